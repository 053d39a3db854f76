// A row of the log of changes.

/**
 * A change of a record or link, or those of records that were created one after another (`changes/runs.ts`);
 * `changes/changes.ts` explains its values.
 */
export interface ChangeRow {
  org_id: number;
  /** From 1 in each organization, in the order of commits; the last of several changes. */
  sequence: number;
  /** Unix milliseconds. */
  at: number;
  action: number;
  resource: number;
  record: Uint8Array;
  actor: number;
  request: Uint8Array | null;
  /** The sequence number of the change that caused this one; null for none. */
  cause: number | null;
  owner: Uint8Array | null;
  data: string | null;
  /** Of an update of a contact or deal, the company that it had, on whose timeline it shows; otherwise null. */
  company: Uint8Array | null;
}
