// The servers that other tests stand on: made, stopped in each way, frozen, and gone without a trace.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PostgresServer, postgresPrograms, type StopMode } from '../support/postgres.ts';

describe.skipIf(postgresPrograms === null)('a PostgreSQL server of the tests', () => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await PostgresServer.start();
  }, 300_000);

  afterAll(async () => {
    await server.close();
    expect(existsSync(server.folder)).toBe(false);
  });

  test.each<StopMode>(['fast', 'immediate', 'kill'])(
    'keeps its data when it is stopped: %s',
    async (mode) => {
      await server.sql(`create table ${mode} as select 1 as one`);
      await server.stop(mode);
      await expect(server.sql('select 1')).rejects.toThrow();
      await server.start();
      expect(await server.sql(`select one from ${mode}`)).toEqual([{ one: 1 }] as never);
    },
    300_000,
  );

  test('answers nothing while it is frozen', async () => {
    server.freeze();
    const answer = server.sql('select 1 as one');
    expect(await Promise.race([answer, Bun.sleep(500)])).toBeUndefined();
    server.thaw();
    expect(await answer).toEqual([{ one: 1 }] as never);
  }, 300_000);

  test('starts where its user may enter, whatever folder is for temporary files', async () => {
    const { TMPDIR } = process.env;
    const ours = mkdtempSync(join(tmpdir(), 'crm-test-'));
    try {
      process.env.TMPDIR = ours;
      const one = await PostgresServer.start();
      expect(await one.sql('select 1 as one')).toEqual([{ one: 1 }] as never);
      await one.close();
    } finally {
      if (TMPDIR === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = TMPDIR;
      rmSync(ours, { recursive: true });
    }
  }, 300_000);
});
