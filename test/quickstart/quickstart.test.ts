// `crm quickstart` as a process: what it makes, says, leaves behind and how it ends.
import { afterEach, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMMAND } from '../support/command.ts';

const TIMEOUT_MS = 300_000;

const folders: string[] = [];
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'crm-test-'));
  folders.push(folder);
  return folder;
}
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

interface Run {
  process: Bun.Subprocess<'ignore', 'pipe', 'pipe'>;
  /** Everything on stderr so far, once it matches. */
  said(pattern: RegExp): Promise<string>;
  finished(): Promise<{ exitCode: number; stdout: string; stderr: string }>;
}

function start(
  args: string[],
  temporary = newFolder(),
  environment: Record<string, string> = {},
  cwd = newFolder(),
): Run {
  const child = Bun.spawn([...COMMAND, 'quickstart', ...args], {
    cwd,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: { PATH: process.env.PATH ?? '', HOME: newFolder(), TMPDIR: temporary, ...environment },
  });
  let stderr = '';
  const waiting = new Set<() => void>();
  const ended = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stderr) {
      stderr += decoder.decode(chunk, { stream: true });
      for (const check of waiting) check();
    }
  })();
  return {
    process: child,
    said: (pattern) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          if (pattern.test(stderr)) resolve(stderr);
        };
        waiting.add(check);
        check();
        void ended.then(() => reject(new Error(`ended without saying ${pattern}:\n${stderr}`)));
      }),
    finished: async () => {
      const stdout = await new Response(child.stdout).text();
      await ended;
      return { exitCode: await child.exited, stdout, stderr };
    },
  };
}

describe('crm quickstart --exit', () => {
  test(
    'does the journey, says it in plain lines, leaves nothing behind, and ignores a database that the environment names',
    async () => {
      const [temporary, folder] = [newFolder(), newFolder()];
      const run = start(['--exit'], temporary, { CRM_DB: join(folder, 'production.db') }, folder);
      const { exitCode, stdout, stderr } = await run.finished();
      expect({ exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({ exitCode: 0, stderr: '' });
      expect(stdout).toBe('');
      for (const step of [
        'Database',
        'Organization',
        'Keys',
        'Server',
        'Import        2,400 contacts, 24 requests',
        'Ingest',
        'Read with v2  2,400 contacts, 12 requests',
        'Read with v1  2,400 people, 24 requests',
        'Export        2,400 contacts, 12 requests',
        'Done in',
        'Try next:',
        'quickstart',
      ]) {
        expect(stderr).toContain(step);
      }
      expect(stderr).not.toContain('\u001b');
      expect(stderr).not.toContain('service_live_');
      expect([readdirSync(temporary), readdirSync(folder)]).toEqual([[], []]);
    },
    TIMEOUT_MS,
  );

  test(
    'with -o json prints one object; with --db keeps the database and the export',
    async () => {
      const db = join(newFolder(), 'demo.db');
      const temporary = newFolder();
      const run = start(['--exit', '-o', 'json', '--db', db], temporary);
      const { exitCode, stdout, stderr } = await run.finished();
      expect(exitCode === 0 ? '' : stderr).toBe('');
      expect(stderr).toContain('Try next:');
      expect(stderr).not.toContain('\u001b');
      const stats = JSON.parse(stdout);
      expect(stats).toMatchObject({
        database: db,
        imported: {
          companies: { records: 300, requests: 3 },
          contacts: { records: 2_400, requests: 24 },
          deals: { records: 700 },
          tasks: { records: 500 },
          notes: { records: 300 },
          segments: { records: 3, requests: 1 },
          interactions: { records: 800 },
        },
        ingested: { meetings: 40, recordings: 14, bookings: 20 },
        pages: { v2: { records: 2_400, requests: 12 }, v1: { records: 2_400, requests: 24 } },
        exported: { records: 2_400, path: join(db, '../demo-contacts.csv') },
      });
      expect(stats.keys.v2).toStartWith('service_live_');
      expect(readdirSync(temporary)).toEqual([]);
      const lines = (await Bun.file(stats.exported.path).text()).split('\n');
      expect(lines[0]).toContain('email');
      expect(lines.filter((line) => line.includes('.example')).length).toBe(2_400);
    },
    TIMEOUT_MS,
  );

  test(
    'refuses a database that is there already, and does not touch it',
    async () => {
      const db = join(newFolder(), 'mine.db');
      writeFileSync(db, 'precious');
      const { exitCode, stderr } = await start(['--exit', '--db', db]).finished();
      expect(exitCode).toBe(2);
      expect(stderr).toContain('already exists');
      expect(stderr).toContain('Next: ');
      expect(await Bun.file(db).text()).toBe('precious');
    },
    TIMEOUT_MS,
  );

  test.each([
    ['a folder for temporary files that is not there', [], { TMPDIR: '/nonexistent' }, 'TMPDIR'],
    ['a database in a folder that is not there', ['--db', '/nonexistent/x.db'], {}, '/nonexistent/x.db'],
  ])(
    'fails with a word for people on %s',
    async (_, args, environment, word) => {
      const { exitCode, stderr } = await start(['--exit', ...args], newFolder(), environment).finished();
      expect(exitCode).toBe(1);
      expect(stderr).toContain(word);
      expect(stderr).toContain('Next: ');
      expect(stderr).not.toContain('unexpected');
    },
    TIMEOUT_MS,
  );
});

describe('crm quickstart', () => {
  test(
    'goes on serving: the commands it names work, Ctrl-C ends it with 0 and keeps the database',
    async () => {
      const temporary = newFolder();
      const run = start([], temporary);
      const said = await run.said(/Serving until Ctrl-C/);
      const [, url = '', key = ''] = /export CRM_URL=(\S+) CRM_API_KEY=(\S+)/.exec(said) ?? [];
      const command = /^ {2}(.+ list deals .+)$/m.exec(said)?.[1] ?? 'false';
      const listed = Bun.spawnSync(['sh', '-c', command.replace(/^bun /, `"${process.execPath}" `)], {
        env: { PATH: process.env.PATH ?? '', CRM_URL: url, CRM_API_KEY: key, CRM_OUTPUT: 'json' },
      });
      expect(listed.exitCode).toBe(0);
      expect(JSON.parse(listed.stdout.toString()).length).toBe(20);
      const get = async (address: string): Promise<{ data: Record<string, unknown>[] }> => {
        const response = await fetch(address, { headers: { 'X-Service-Api-Key': key } });
        return { data: [], ...((await response.json()) as object) };
      };
      const recordings = await get(`${url}/api/v2/recordings?has_transcript=true`);
      expect(recordings.data.length).toBe(12);
      const one = (await get(`${url}/api/v2/recordings/${recordings.data[0]?.id}`)) as unknown as {
        data: { transcript_url: string; meeting_id: string };
      };
      const transcript = await fetch(one.data.transcript_url);
      expect(await transcript.text()).toContain('"speech":"');
      const deal = await fetch(`${url}/api/v2/meetings/${one.data.meeting_id}/deal`, {
        headers: { 'X-Service-Api-Key': key },
      });
      expect(await deal.json()).toMatchObject({
        data: { name: expect.any(String), currency: expect.any(String) },
      });
      run.process.kill('SIGINT');
      const { exitCode, stderr } = await run.finished();
      expect(exitCode === 0 ? '' : stderr).toBe('');
      expect(stderr).toMatch(/serve --db .*crm\.db/);
      const folder = readdirSync(temporary).find((name) => name.startsWith('crm-quickstart-'));
      const db = join(temporary, folder ?? '', 'crm.db');
      const orgs = Bun.spawnSync([...COMMAND, 'orgs', 'list', '--db', db, '-o', 'json'], {
        env: { PATH: process.env.PATH ?? '' },
      });
      expect(orgs.stdout.toString()).toContain('Tern & Tide Instruments');
      expect(existsSync(join(temporary, folder ?? '', 'crm-contacts.csv'))).toBe(true);
    },
    TIMEOUT_MS,
  );

  test(
    'takes another port where 4000 is taken, and Ctrl-C on the way ends it with 130 and removes what it made',
    async () => {
      for (;;) {
        using holder = holdPort(4000);
        const temporary = newFolder();
        const run = start(['--exit'], temporary);
        const said = await run.said(/Server .*\n/);
        run.process.kill('SIGINT');
        const { exitCode, stderr } = await run.finished();
        const hasOther = /http:\/\/127\.0\.0\.1:(?!4000\b)\d+/.test(said);
        // On a busy machine it is through before it is interrupted, or whatever had the port has given it back by then.
        if (exitCode === 0 || (holder === null && !hasOther)) continue;
        expect([exitCode, hasOther]).toEqual([130, true]);
        expect(stderr).toContain('Interrupted');
        expect(readdirSync(temporary)).toEqual([]);
        return;
      }
    },
    TIMEOUT_MS,
  );

  // Where something else has the port, it is taken all the same.
  function holdPort(port: number) {
    try {
      return Bun.serve({ hostname: '127.0.0.1', port, fetch: () => new Response('mine') });
    } catch {
      return null;
    }
  }
});
