// An fsync of the database file that fails: the server stops, what it had answered stays in the log, and a restart has it all.
import { expect } from 'bun:test';
import { existsSync } from 'node:fs';
import { describe, test } from '../support/on-sqlite.ts';
import { allIds, Place, post } from '../support/server-process.ts';

const place = new Place();
const TRACED = ['-f', '-qq', '-o', '/dev/null', '-e', 'trace=fsync,fdatasync'];
const FAILING = ['-e', 'inject=fsync,fdatasync:error=EIO'];
const canTrace =
  Bun.which('strace') !== null && Bun.spawnSync(['strace', ...TRACED, 'true'], { stderr: 'ignore' }).success;

describe.skipIf(!canTrace)('where every fsync of the file fails (needs strace)', () => {
  // SQLite syncs the file itself in checkpoints only; commits go to the log.
  const failing = (db: string) => (command: string[]) => [
    'strace',
    ...TRACED,
    ...FAILING,
    '-P',
    db,
    ...command,
  ];
  const contacts = Array.from({ length: 100 }, () => ({ first_name: 'A', remarks: 'x'.repeat(1_000) }));

  test('a checkpoint under way ends the server with 1, and loses nothing', async () => {
    const { db, key } = await place.database();
    const first = await place.serve(db, failing(db));
    let answered = 0;
    for (let index = 0; index < 100; index++) {
      const reply = await post(first.url, key, '/contacts/batch', contacts, `batch-${index}`).catch(
        () => null,
      );
      if (reply === null) break;
      answered += reply.status === 200 ? 100 : 0;
    }
    expect(await first.child.exited).toBe(1);
    expect(await first.said).toContain('The disk of the database failed');
    expect(answered).toBeGreaterThan(100);
    expect(answered).toBeLessThan(10_000);
    expect(existsSync(`${db}-wal`)).toBe(true);
    const second = await place.serve(db);
    // The group whose checkpoint failed is durable, answered or not.
    expect([answered, answered + 100]).toContain((await allIds(second.url, key, 'contacts')).length);
    second.child.kill('SIGTERM');
    expect(await second.child.exited).toBe(0);
  }, 300_000);

  test('the checkpoint at the end leaves the log where it is, and the exit code tells', async () => {
    const { db, key } = await place.database();
    const first = await place.serve(db, failing(db));
    const reply = await post(first.url, key, '/contacts', { first_name: 'Ada' }, 'k');
    expect(reply.status).toBe(201);
    const server = Bun.spawnSync(['pgrep', '-P', String(first.child.pid)])
      .stdout.toString()
      .trim();
    process.kill(Number(server), 'SIGTERM');
    expect(await first.child.exited).toBe(1);
    expect(existsSync(`${db}-wal`)).toBe(true);
    const second = await place.serve(db);
    expect(await allIds(second.url, key, 'contacts')).toEqual([reply.body.data.id]);
    second.child.kill('SIGTERM');
    expect(await second.child.exited).toBe(0);
  }, 300_000);
});
