// What the import of a folder is given, what its parts share, and what it tells.
import type { Client } from '../../api/client.ts';
import type { ImportRequest, ImportSummary } from '../request.ts';
import type { Preflight } from '../session/preflight.ts';
import type { Reporter } from '../session/report.ts';
import type { IdMap } from './id-map.ts';

export interface FolderJob {
  /** Its input is the folder. */
  request: ImportRequest;
  url: string;
  apiKey: string;
  client: Client;
  reporter: Reporter;
  interruption: AbortController;
  /** Told when nothing stands in the way any more. */
  onBegin?(): void;
  /** Told of every file once it is in, in order. */
  onFile(summary: ImportSummary): void;
  /** Told of the links once they are made. */
  onLinks(summary: LinksSummary): void;
}

export interface FolderParts extends FolderJob, Preflight {
  ids: IdMap;
  /** Stands for the content of all files. */
  content: string;
  keyPrefix: string;
}

export interface LinksSummary {
  linked: number;
  rejected: number;
  errors_file: string | null;
}

export interface FolderSummary {
  /** What was done of each resource, in order. */
  resources: ImportSummary[];
  links: LinksSummary | null;
  /** Read-only resources that the folder has. */
  skipped: string[];
  /** References left out because what they point to is not in the folder, or is a user of another organization. */
  references_left_out: number;
  /** Interactions that are not imported, since their contact was deleted, and the file that holds them. */
  interactions_left_out: number;
  left_out_file: string | null;
  /** Interactions that come in with their main contact and its company alone. */
  interactions_reduced: number;
  /** Records and links that are not in. */
  rejected: number;
  status: 'finished' | 'already';
}
