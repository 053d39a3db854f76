// The shape of an error response in the description; each is a component, with variants where the headers differ.
import type { Detail } from '../errors.ts';
import type { HeaderName } from './headers.ts';

/** Whose errors: those of a version, or those of transcript downloads, which need a link instead of a key. */
export type ErrorFamily = 'V1' | 'V2' | 'Transcript';

/** An example of an error. */
export interface ErrorExample {
  code: Detail['code'];
  message: string;
  /** Path and message of each detail, with its code if it differs from the error's own. */
  faults?: [path: string, message: string, code?: Detail['code']][];
}

/** What the description says about the error responses of one status. */
export interface ErrorAnswer {
  name: string;
  description: string;
  headers: (family: ErrorFamily) => readonly HeaderName[];
  examples: Record<string, ErrorExample>;
}
