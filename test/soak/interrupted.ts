// Commands that are killed, or whose system calls fail, at one call after another, and what they leave behind.
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Call, countCalls, type Fault, type Outcome, runWithFault } from './strace.ts';

/** A command that is tried, and how to see that it did no harm. */
export interface Trial {
  name: string;
  /** Folder with what is there before; each run has a copy of it. */
  template: string;
  /** In such a folder. */
  command: readonly string[];
  env?: Record<string, string>;
  /** Tells what is wrong in the folder after a run that was interrupted; nothing where all is well. */
  faultsAfter(folder: string): string[];
  /** Runs the command again, unharmed, and tells what is wrong then. */
  again(folder: string): Promise<string[]>;
}

export interface Findings {
  /** Runs that came to their call. */
  runs: number;
  /** Calls of the kinds that were tried, in a run that nothing befell. */
  calls: number;
  faults: string[];
}

export interface Extent {
  calls: readonly Call[];
  what: Fault['what'];
  /** Takes every so many-th call; all unless given. */
  step?: number;
}

/** Has one call after another end the command, or fail. */
export async function interrupt(trial: Trial, { calls, what, step = 1 }: Extent): Promise<Findings> {
  const findings: Findings = { runs: 0, calls: 0, faults: [] };
  const counts = await inCopy(trial, (folder) => countCalls(trial.command, placeOf(trial, folder), calls));
  for (const [call, { total, ofOneThread }] of counts) {
    findings.calls += total;
    for (let nth = 1; nth <= ofOneThread; nth += step) {
      const fault: Fault = { call, nth, what };
      const faults = await inCopy(trial, (folder) => tryOnce(trial, folder, fault, findings));
      findings.faults.push(...faults.map((text) => `${trial.name}, ${what} at ${call} ${nth}: ${text}`));
    }
  }
  return findings;
}

async function tryOnce(trial: Trial, folder: string, fault: Fault, findings: Findings): Promise<string[]> {
  const outcome = await runWithFault(trial.command, placeOf(trial, folder), fault);
  if (outcome.isHit) findings.runs += 1;
  return [
    ...(fault.what === 'SIGKILL' ? [] : unclear(outcome)),
    ...trial.faultsAfter(folder).map((text) => `then ${text}`),
    ...(await trial.again(folder).catch(thrown)).map((text) => `again: ${text}`),
  ];
}

function thrown(error: unknown): string[] {
  return [error instanceof Error ? error.message : String(error)];
}

// What failed is reported in words, or did not matter.
function unclear({ code, stderr }: Outcome): string[] {
  if (code === 0) return [];
  const isClear = code === 1 && /^crm: (?!unexpected)/m.test(stderr) && /^Next: /m.test(stderr);
  return isClear ? [] : [`ended with ${code}: ${stderr.slice(-400)}`];
}

function placeOf({ env }: Trial, folder: string) {
  return { cwd: folder, env: { PATH: process.env.PATH ?? '', HOME: folder, ...env } };
}

async function inCopy<T>({ template }: Trial, job: (folder: string) => Promise<T>): Promise<T> {
  const root = mkdtempSync(join(tmpdir(), 'crm-trial-'));
  try {
    const folder = join(root, 'place');
    mkdirSync(folder);
    cpSync(template, folder, { recursive: true });
    return await job(folder);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
