// A disk that is filled and freed again and again under a server that is written to, read from, backed up and exported.
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BINARY } from '../support/command.ts';
import { assertSound, withCopy } from './database-content.ts';
import { MixedLoad } from './mixed-load.ts';
import { createContacts, Node, runOnce } from './service.ts';

const SIZE = '512m';
const FULL_MS = 1_500;
const FREE_MS = 1_500;
const TURN_MS_MAX = 20_000;
const NO_LIMITS = ['--key-limit', '100000000', '--org-limit', '100000000'];

export interface DiskFigures {
  fills: number;
  writes: number;
  /** Requests that were answered 503, and had to be repeated. */
  repeats: number;
  /** Reads while it was full. */
  reads: number;
  /** Milliseconds from the disk being full, and free, to /readyz telling so, at most. */
  toldFull: number;
  toldFree: number;
  faults: string[];
}

/** Whether this process may mount; its mounts are its own where it was started by `inOwnNamespace`. */
export const canMount = Bun.spawnSync(['unshare', '--mount', 'true'], { stderr: 'ignore' }).success;

/** The command by which a process gets mounts that vanish with it. */
export const inOwnNamespace = (command: readonly string[]): string[] => ['unshare', '--mount', ...command];

/** Fills the disk so many times; in a namespace of mounts of its own. */
export async function fillDisk(fills: number, flags: readonly string[]): Promise<DiskFigures> {
  const root = mkdtempSync(join(tmpdir(), 'crm-disk-'));
  const disk = join(root, 'disk');
  mkdirSync(disk);
  const mounted = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', `size=${SIZE}`, 'tmpfs', disk]);
  if (!mounted.success) throw new Error(`no disk could be made: ${mounted.stderr}`);
  const db = join(disk, 'crm.db');
  const figures: DiskFigures = {
    ...{ fills: 0, writes: 0, repeats: 0, reads: 0, toldFull: 0, toldFree: 0 },
    faults: [],
  };
  const key = await runOnce(['init', '--org', 'Soak', '--db', db]);
  const node = await Node.start(db, [...NO_LIMITS, ...flags]);
  try {
    await createContacts(node.url, key, 300, 'Read');
    const load = new MixedLoad(() => node.url, key);
    for (; figures.fills < fills; figures.fills++) {
      await Bun.sleep(FREE_MS);
      const faults = await fillOnce({ root, disk, db, key, node, figures });
      figures.faults.push(...faults.map((text) => `fill ${figures.fills + 1}: ${text}`));
    }
    await load.end();
    const { acknowledged } = load;
    await node.kill();
    const lost = withCopy(db, (copy) => {
      assertSound(copy, db);
      return load.missingIn(copy, acknowledged);
    });
    if (load.unhinted > 0) lost.push(`${load.unhinted} answers of 503 without Retry-After`);
    figures.faults.push(...lost, ...load.unexpected);
    figures.writes = acknowledged.writes;
    figures.repeats = load.repeats;
  } finally {
    await node.kill();
    Bun.spawnSync(['umount', disk]);
    rmSync(root, { recursive: true, force: true });
  }
  return figures;
}

interface Turn {
  root: string;
  disk: string;
  db: string;
  key: string;
  node: Node;
  figures: DiskFigures;
}

async function fillOnce({ root, disk, db, key, node, figures }: Turn): Promise<string[]> {
  const faults: string[] = [];
  const ballast = join(disk, 'ballast');
  const fullAt = performance.now();
  fill(ballast);
  await untilReady(node.url, 503);
  figures.toldFull = Math.max(figures.toldFull, Math.round(performance.now() - fullAt));
  const commands = runCommandsOnFullDisk({ root, disk, db, url: node.url, key });
  for (const endAt = performance.now() + FULL_MS; performance.now() < endAt; figures.reads++) {
    const response = await fetch(`${node.url}/api/v2/contacts?limit=200`, {
      headers: { 'X-Service-Api-Key': key },
    });
    await response.arrayBuffer();
    if (response.status !== 200) faults.push(`a read was answered ${response.status}`);
    const health = await fetch(`${node.url}/healthz`);
    if (health.status !== 200) faults.push(`/healthz was ${health.status}`);
    fill(ballast);
  }
  faults.push(...(await commands));
  rmSync(ballast);
  const freeAt = performance.now();
  await untilReady(node.url, 200);
  figures.toldFree = Math.max(figures.toldFree, Math.round(performance.now() - freeAt));
  return faults;
}

// What operators and clients do meanwhile: it is done, or says why not and leaves nothing.
async function runCommandsOnFullDisk(place: {
  root: string;
  disk: string;
  db: string;
  url: string;
  key: string;
}) {
  const { root, disk, db, url, key } = place;
  const elsewhere = join(root, 'elsewhere.db');
  const env = { CRM_URL: url, CRM_API_KEY: key, HOME: root, PATH: process.env.PATH ?? '' };
  const trials: [readonly string[], RegExp | null][] = [
    [['backup', join(disk, 'there.db'), '--quiet', '--db', db], /no space left|disk is full|ENOSPC/],
    [['backup', elsewhere, '--quiet', '--db', db], null],
    [['export', 'contacts', '--out', join(disk, 'there.csv')], /disk is full/],
    [['export', 'contacts', '--out', join(root, 'elsewhere.csv')], null],
  ];
  const faults: string[] = [];
  for (const [words, reason] of trials) {
    const child = Bun.spawn([BINARY, ...words], { env, stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' });
    const said = await child.stderr.text();
    const isAsExpected =
      (await child.exited) === (reason === null ? 0 : 1) && (reason === null || reason.test(said));
    if (!isAsExpected)
      faults.push(`crm ${words.join(' ')} ended with ${child.exitCode}: ${said.slice(-300)}`);
  }
  rmSync(elsewhere, { force: true });
  return faults;
}

function fill(path: string): void {
  const file = openSync(path, 'a');
  try {
    for (const size of [1 << 20, 1 << 12]) {
      const piece = new Uint8Array(size);
      while (wasWritten(file, piece));
    }
  } finally {
    closeSync(file);
  }
}

function wasWritten(file: number, piece: Uint8Array): boolean {
  try {
    return writeSync(file, piece) === piece.length;
  } catch {
    return false;
  }
}

async function untilReady(url: string, status: number): Promise<void> {
  const endAt = performance.now() + TURN_MS_MAX;
  for (;;) {
    const response = await fetch(`${url}/readyz`).catch(() => null);
    if (response?.status === status) return;
    if (performance.now() > endAt) throw new Error(`/readyz is ${response?.status} instead of ${status}`);
    await Bun.sleep(10);
  }
}
