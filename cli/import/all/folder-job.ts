// The request, the shared parts and the summary of a folder's import.
import type { Client } from '../../api/client.ts';
import type { ImportRequest, ImportSummary } from '../request.ts';
import type { Preflight } from '../session/preflight.ts';
import type { Reporter } from '../session/report.ts';
import type { IdMap } from './id-map.ts';

export interface FolderJob {
  /** The input is the folder. */
  request: ImportRequest;
  url: string;
  apiKey: string;
  client: Client;
  reporter: Reporter;
  interruption: AbortController;
  /** Called for every imported file, in order. */
  onFile(summary: ImportSummary): void;
  /** Called once the links are created. */
  onLinks(summary: LinksSummary): void;
}

export interface FolderParts extends FolderJob, Preflight {
  ids: IdMap;
  /** Digest of the content of all files. */
  content: string;
  keyPrefix: string;
}

export interface LinksSummary {
  linked: number;
  rejected: number;
  errors_file: string | null;
}

/** What could not be imported as it was exported. */
export interface LeftOut {
  /** References left out because their target was not imported, or is a user of another organization. */
  references_left_out: number;
  /** Interactions not imported because their contact was deleted, and the file with all that are left out. */
  interactions_left_out: number;
  /** Interactions not imported because another one has the same contact, type, direction, title and date; in the file too. */
  interactions_repeated: number;
  left_out_file: string | null;
  /** Interactions imported without some of their contacts or companies, because they have more than a create accepts. */
  interactions_reduced: number;
}

export interface FolderSummary extends LeftOut {
  /** The summaries of the resources, in order. */
  resources: ImportSummary[];
  links: LinksSummary | null;
  /** Read-only resources in the folder. */
  skipped: string[];
  /** Records and links that were rejected. */
  rejected: number;
  status: 'finished' | 'already';
}
