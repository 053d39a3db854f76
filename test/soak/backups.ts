// `bun run soak:backups`: backups, restores and exports that are killed at every call, made under load, and on a full disk.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BINARY } from '../support/command.ts';
import { backUpUnderLoad } from './backup-load.ts';
import { exportTrials } from './export-trials.ts';
import { fileTrials } from './file-trials.ts';
import { canMount, fillDisk, inOwnNamespace } from './filled-disk.ts';
import { type Extent, interrupt, type Trial } from './interrupted.ts';
import { hasStrace, SYNCS_AND_NAMES, WRITES } from './strace.ts';

const USAGE = `bun run soak:backups [--only kills|errors|load|disk] [--backups N] [--fills N] [--step N]
  --backups  made under load, without and with --readers 2 (50)
  --fills    of the disk, without and with --readers 2 (20)
  --step     takes every so many-th system call that writes or opens (1)
  --only     just that part; kills and errors need strace, disk needs root`;

const SERVERS: readonly string[][] = [[], ['--readers', '2']];

let hasFailed = false;

function report(name: string, text: string, faults: readonly string[]): void {
  hasFailed ||= faults.length > 0;
  console.log(`${faults.length === 0 ? 'ok  ' : 'BAD '} ${name.padEnd(44)} ${text}; ${faults.length} faults`);
  for (const fault of faults.slice(0, 10)) console.log(`       ${fault}`);
}

async function withTrials(job: (trial: Trial) => Promise<void>): Promise<void> {
  if (!hasStrace) throw new Error('strace is needed: apt-get install strace');
  const root = mkdtempSync(join(tmpdir(), 'crm-soak-'));
  try {
    const files = await fileTrials(root);
    const { trials, close } = await exportTrials(root);
    try {
      for (const trial of [...files, ...trials]) await job(trial);
    } finally {
      await close();
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function reportInterrupted(trial: Trial, what: string, extents: readonly Extent[]): Promise<void> {
  for (const extent of extents) {
    const { runs, calls, faults } = await interrupt(trial, extent);
    report(`${trial.name}, ${extent.what}`, `${runs} runs, ${what} ${calls} calls`, faults);
  }
}

const kills = (step: number) =>
  withTrials((trial) =>
    reportInterrupted(trial, 'before each of', [
      { calls: SYNCS_AND_NAMES, what: 'SIGKILL' },
      { calls: [...WRITES, 'openat'], what: 'SIGKILL', step },
    ]),
  );

const errors = (step: number) =>
  withTrials((trial) =>
    reportInterrupted(trial, 'failing at', [
      { calls: SYNCS_AND_NAMES, what: 'EIO' },
      { calls: WRITES, what: 'EIO', step },
      { calls: WRITES, what: 'ENOSPC+', step },
    ]),
  );

async function load(backups: number): Promise<void> {
  for (const flags of SERVERS) {
    const { faults, ...figures } = await backUpUnderLoad(backups, flags);
    report(`backups under load ${flags.join(' ')}`, JSON.stringify(figures), faults);
  }
}

async function disk(fills: number): Promise<void> {
  for (const flags of SERVERS) {
    const { faults, ...figures } = await fillDisk(fills, flags);
    report(`a full disk ${flags.join(' ')}`, JSON.stringify(figures), faults);
  }
}

/** Runs the part of a disk in a process whose mounts vanish with it. */
async function diskApart(fills: number): Promise<void> {
  if (!canMount) throw new Error('a disk can be mounted by root alone');
  const words = [process.execPath, import.meta.path, '--only', 'disk', '--fills', String(fills)];
  const child = Bun.spawn(inOwnNamespace(words), {
    ...{ env: { ...process.env, SOAK_MOUNTS: 'own' } },
    ...{ stdout: 'inherit', stderr: 'inherit' },
  });
  hasFailed ||= (await child.exited) !== 0;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      backups: { type: 'string', default: '50' },
      fills: { type: 'string', default: '20' },
      step: { type: 'string', default: '1' },
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) return console.log(USAGE);
  const fills = Number(values.fills);
  const parts: Record<string, () => Promise<void>> = {
    kills: () => kills(Number(values.step)),
    errors: () => errors(Number(values.step)),
    load: () => load(Number(values.backups)),
    disk: () => (process.env.SOAK_MOUNTS === 'own' ? disk(fills) : diskApart(fills)),
  };
  if (values.only !== undefined && parts[values.only] === undefined) throw new Error(USAGE);
  if (process.env.SOAK_MOUNTS !== 'own') console.log(BINARY);
  for (const [name, part] of Object.entries(parts))
    if (values.only === undefined || values.only === name) await part();
}

await main();
process.exit(hasFailed ? 1 : 0);
