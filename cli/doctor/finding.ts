// What a look at one thing tells: that it is well, or what is wrong with it and the way out.

export type FindingStatus = 'ok' | 'warn' | 'fail';

export interface Finding {
  /** What was looked at, such as `disk space`. */
  check: string;
  status: FindingStatus;
  /** What was found, in a sentence without its full stop. */
  found: string;
  /** What to do about it; null where there is nothing to do. */
  next: string | null;
}

/** Findings under one heading. */
export interface FindingSection {
  section: 'settings' | 'database' | 'server';
  findings: Finding[];
}

/** All is well. */
export function ok(check: string, found: string): Finding {
  return { check, status: 'ok', found, next: null };
}

/** It works, and should not stay as it is. */
export function warn(check: string, found: string, next: string): Finding {
  return { check, status: 'warn', found, next };
}

/** It does not work. */
export function fail(check: string, found: string, next: string): Finding {
  return { check, status: 'fail', found, next };
}
