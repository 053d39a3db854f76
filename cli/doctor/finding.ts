// A finding: the result of one check, and how to fix what is wrong.
import { capitalizedStep } from '../errors.ts';

export type FindingStatus = 'ok' | 'warn' | 'fail';

export interface Finding {
  /** What was checked, such as `disk space`. */
  check: string;
  status: FindingStatus;
  /** What was found, without a full stop. */
  found: string;
  /** How to fix it; null if nothing is wrong. */
  next: string | null;
}

/** Findings under one heading. */
export interface FindingSection {
  section: 'settings' | 'database' | 'server';
  findings: Finding[];
}

/** The check passed. */
export function ok(check: string, found: string): Finding {
  return { check, status: 'ok', found, next: null };
}

/** It works, but should be fixed. */
export function warn(check: string, found: string, next: string): Finding {
  return { check, status: 'warn', found, next: capitalizedStep(next) };
}

/** It does not work. */
export function fail(check: string, found: string, next: string): Finding {
  return { check, status: 'fail', found, next: capitalizedStep(next) };
}
