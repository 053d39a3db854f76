// Backups of a database that is being written to, each restored to another place and compared with what was acknowledged.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assertSound, contentOf, withCopy } from './database-content.ts';
import { MixedLoad } from './mixed-load.ts';
import { Node, runOnce } from './service.ts';

export interface BackupFigures {
  backups: number;
  /** Writes that were acknowledged in all, and by the last backup. */
  writes: number;
  /** Milliseconds. */
  slowestWrite: number;
  slowestBesideBackup: number;
  longestBackup: number;
  bytes: number;
  faults: string[];
}

/** Makes so many backups of a file that a server with those flags serves. */
export async function backUpUnderLoad(backups: number, flags: readonly string[]): Promise<BackupFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'crm-load-'));
  const at = (name: string) => join(folder, name);
  const db = at('crm.db');
  const figures: BackupFigures = {
    ...{ backups: 0, writes: 0, slowestWrite: 0, slowestBesideBackup: 0, longestBackup: 0, bytes: 0 },
    faults: [],
  };
  const key = await runOnce(['init', '--org', 'Soak', '--db', db]);
  const node = await Node.start(db, [...NO_LIMITS, ...flags]);
  try {
    const load = new MixedLoad(() => node.url, key);
    for (; figures.backups < backups; figures.backups++) {
      await Bun.sleep(BETWEEN_MS);
      figures.slowestWrite = Math.max(figures.slowestWrite, load.takeSlowest());
      const before = load.acknowledged;
      const made = JSON.parse(await runOnce(['backup', at('b.db'), '-o', 'json', '--quiet', '--db', db]));
      figures.slowestBesideBackup = Math.max(figures.slowestBesideBackup, load.takeSlowest());
      figures.longestBackup = Math.max(figures.longestBackup, made.seconds * 1_000);
      figures.bytes = made.bytes;
      await runOnce(['restore', at('b.db'), '--confirm', '--quiet', '--db', at('restored.db')]);
      const faults = withCopy(at('restored.db'), (copy) => {
        assertSound(copy, 'restored.db');
        return load.missingIn(copy, before);
      });
      if (contentOf(at('restored.db')) !== contentOf(at('b.db')))
        faults.push('the restored database is another');
      figures.faults.push(...faults.map((text) => `backup ${figures.backups + 1}: ${text}`));
      for (const name of ['b.db', 'restored.db', 'restored.db-serving']) rmSync(at(name), { force: true });
    }
    await load.end();
    figures.writes = load.acknowledged.writes;
    figures.faults.push(...load.unexpected);
  } finally {
    await node.kill();
    rmSync(folder, { recursive: true, force: true });
  }
  return figures;
}

const NO_LIMITS = ['--key-limit', '100000000', '--org-limit', '100000000'];
const BETWEEN_MS = 500;
