// What the description says of error answers, as a shape: each is a component, where headers differ one for each family.
import type { Detail } from '../errors.ts';
import type { HeaderName } from './headers.ts';

/** Whose errors: those of a version, or those of the download by a link, which is not of a key. */
export type ErrorFamily = 'V1' | 'V2' | 'Link';

/** An error as it may come. */
export interface ErrorExample {
  code: Detail['code'];
  message: string;
  /** Path and message of each fault, with its code where it is not the error's own. */
  faults?: [path: string, message: string, code?: Detail['code']][];
}

/** What is said of the answers of one status. */
export interface ErrorAnswer {
  name: string;
  description: string;
  headers: (family: ErrorFamily) => readonly HeaderName[];
  examples: Record<string, ErrorExample>;
}
