// Work in the background, in tests.
import type { ReportError } from '../../server/repeated-work.ts';

/** Has the work's `stop` reject with any error. */
export const fail: ReportError = (error) => {
  throw error;
};
