// The program for a sync, exactly as it is printed: a source that keeps moving, and what crm has of it.
import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test';
import { mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RECIPES } from '../../cli/recipes/recipes.ts';
import { openApiDocument } from '../../server/openapi/document.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { randomNumbers } from '../support/random.ts';
import { type Client, clientOf } from '../support/v2.ts';
import { type Kind, MovingSource, type Row } from './moving-source.ts';

const SEED = Number(process.env.SYNC_SEED ?? 1);
const STEPS = 1_000;
const STEPS_PER_COMPARISON = 100;
const RUNS_TO_SETTLE_MAX = 3;
const KILLS = 8;
const KILLED_WITHIN_MS = 600;
const KINDS: readonly Kind[] = ['companies', 'contacts'];
const CRM = 'http://crm.test';
const SOURCE = 'http://source.test';
const ROOT = join(import.meta.dir, '../..');
const TEST_MS_MAX = 300_000;
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const YEAR_MS = 365 * 24 * 60 * MINUTE_MS;

const OPTIONS = {
  target: 'ESNext',
  module: 'Preserve',
  moduleResolution: 'bundler',
  lib: ['ESNext', 'DOM', 'DOM.Iterable'],
  types: ['bun-types'],
  strict: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  noEmit: true,
  skipLibCheck: true,
};

let folder: string;
let harness: Harness;
let api: Client;
let key: string;
let source: MovingSource;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'crm-sync-'));
  const description = join(folder, 'openapi.json');
  await Bun.write(description, JSON.stringify(await openApiDocument({ baseUrl: CRM })));
  const command = [process.execPath, join(import.meta.dir, 'generate.ts'), description, folder];
  const making = Bun.spawn([...command, 'openapi-typescript'], { stdout: 'ignore', stderr: 'pipe' });
  if ((await making.exited) !== 0) throw new Error(await making.stderr.text());
  renameSync(join(folder, 'openapi-typescript.ts'), join(folder, 'crm.ts'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  await Bun.write(join(folder, 'sync.ts'), RECIPES.sync?.text ?? '');
}, TEST_MS_MAX);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A service, and a source that has not been copied yet, for the tests of a group. */
function starting(options: { keyLimit?: number } = {}): void {
  beforeAll(async () => {
    rmSync(join(folder, 'sync-state.json'), { force: true });
    source = new MovingSource(Date.UTC(2026, 0, 5), randomNumbers(SEED));
    harness = await startHarness({ now: source.now, ...options });
    api = clientOf(harness);
    const scopes = KINDS.flatMap((kind) => [`${kind}:write`, `${kind}:delete`]);
    key = (await harness.issue({ scopes })).key;
  });
  afterAll(() => harness.close());
}

type Answer = (request: Request) => Response | Promise<Response>;

const toCrm: Answer = (request) => {
  harness.clock.now = Math.max(harness.clock.now + 1, source.now);
  return harness.handle(request);
};
const toEither: Answer = (request) =>
  request.url.startsWith(SOURCE) ? Response.json(source.page(new URL(request.url))) : toCrm(request);

interface Run {
  /** What it threw; undefined if it came to its end. */
  thrown?: unknown;
  exitCode: number;
  stderr: string[];
}

let runs = 0;

/** One run of the program as a process of its own would begin it; its clock is wrong by so much, and its waits pass at once. */
async function run(answer: Answer = toEither, clockError = 0): Promise<Run> {
  runs += 1;
  const stderr: string[] = [];
  Object.assign(process.env, { CRM_URL: CRM, CRM_API_KEY: key, SOURCE_URL: SOURCE, SOURCE_KEY: 'key' });
  const { setTimeout } = globalThis;
  let answering = 0;
  const fetched = async (request: Request) => {
    answering += 1;
    try {
      return await answer(request);
    } finally {
      answering -= 1;
    }
  };
  // What waits for whole seconds while nothing is asked of a server is the program. A server waits less after a write.
  const waited = (resolve: () => void, ms = 0) => {
    if (answering > 0 || ms % SECOND_MS > 0) return setTimeout(resolve, ms);
    source.pass(ms);
    return setTimeout(resolve, 0);
  };
  using _fetch = spyOn(globalThis, 'fetch').mockImplementation(fetched as typeof fetch);
  using _setTimeout = spyOn(globalThis, 'setTimeout').mockImplementation(waited as typeof setTimeout);
  using _now = spyOn(Date, 'now').mockImplementation(() => source.now + clockError);
  using _error = spyOn(console, 'error').mockImplementation((line: string) => void stderr.push(line));
  const thrown = await import(join(folder, `sync.ts?run=${runs}`)).then(
    () => undefined,
    (error: unknown) => error,
  );
  const exitCode = Number(process.exitCode ?? 0);
  process.exitCode = 0;
  return { thrown, exitCode, stderr };
}

/** Runs until nothing is left to copy. */
async function settle(runOnce: () => Promise<Run> = run): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const { thrown, exitCode, stderr } = await runOnce();
    if (thrown === undefined && exitCode === 0) return;
    if (tries === RUNS_TO_SETTLE_MAX) throw new Error(`it does not settle: ${thrown}\n${stderr.join('\n')}`);
  }
}

const all = (kind: Kind) => api.all(`/${kind}`);

async function recordOf(kind: Kind, { id }: Row): Promise<Json> {
  const [record] = await api.list(`/${kind}?external_id=erp:${id}`);
  return record ?? {};
}

/** Compares both sides, record by record. */
async function compare(): Promise<void> {
  const companyIds = new Map<string | null | undefined, string>();
  for (const row of source.live('companies')) {
    const { id, name, domain } = await recordOf('companies', row);
    expect([row.id, name, domain]).toEqual([row.id, row.name, row.domain]);
    companyIds.set(row.id, id);
  }
  for (const row of source.live('contacts')) {
    const { last_name, email, company_id } = await recordOf('contacts', row);
    const employer = companyIds.get(row.company_id) ?? null;
    expect([row.id, last_name, email, company_id]).toEqual([row.id, row.name, row.email, employer]);
  }
  for (const kind of KINDS)
    expect([kind, (await all(kind)).length]).toEqual([kind, source.live(kind).length]);
}

describe(`a source that keeps moving (seed ${SEED})`, () => {
  starting();
  const ends = { whole: 0, rejected: 0, cut: 0 };

  const refusal = () => {
    const status = [429, 429, 503, 500][source.below(4)] ?? 429;
    return new Response('later', { status, headers: { 'Retry-After': String(1 + source.below(30)) } });
  };

  /** Answers late or not at all, while the source moves; some runs are killed before or after a request is carried out. */
  function hostile(): Answer {
    let requests = 0;
    const killedAt = source.below(3) === 0 ? 1 + source.below(12) : 0;
    const isCarriedOut = source.below(2) === 0;
    return async (request) => {
      requests += 1;
      const isKilled = requests === killedAt;
      if (isKilled && !isCarriedOut) throw new Error('killed');
      if (source.below(25) === 0) return refusal();
      source.pass(source.below(50) === 0 ? 10 * MINUTE_MS : source.below(5 * SECOND_MS));
      if (source.below(3) === 0) source.change();
      const response = await toEither(request);
      if (isKilled) throw new Error('killed');
      return response;
    };
  }

  for (let until = STEPS_PER_COMPARISON; until <= STEPS; until += STEPS_PER_COMPARISON)
    test(
      `is copied exactly, as of step ${until}`,
      async () => {
        while (source.steps < until) {
          source.pass(source.below(20 * SECOND_MS));
          source.change();
          const { thrown, exitCode } = await run(hostile(), source.below(MINUTE_MS) - MINUTE_MS / 2);
          ends[thrown !== undefined ? 'cut' : exitCode === 0 ? 'whole' : 'rejected'] += 1;
        }
        source.settle();
        await settle();
        await compare();
      },
      TEST_MS_MAX,
    );

  test('what has not changed is not written, not even if everything is copied again', async () => {
    const before = await Promise.all(KINDS.map(all));
    await settle();
    rmSync(join(folder, 'sync-state.json'));
    await settle();
    expect(await Promise.all(KINDS.map(all))).toEqual(before);
  });

  test('every kind of change was made, and runs ended in every way', () => {
    expect(Object.values(source.made).length).toBe(source.kindsOfChange);
    for (const count of Object.values(ends)) expect(count).toBeGreaterThan(10);
  });
});

describe('killed processes', () => {
  starting();

  test(
    'lose and duplicate nothing',
    async () => {
      let origin = '';
      await using server: Bun.Server<undefined> = Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        fetch: (request) => {
          const path = request.url.slice(origin.length);
          if (path.startsWith('/api')) return toCrm(request);
          const { data, next } = source.page(new URL(path.slice('/source'.length), SOURCE));
          return Response.json({ data, next: next?.replace(SOURCE, `${origin}/source`) ?? null });
        },
      });
      origin = server.url.origin;
      const env = {
        ...{ PATH: process.env.PATH, CRM_URL: origin, CRM_API_KEY: key },
        ...{ SOURCE_URL: `${origin}/source`, SOURCE_KEY: 'key' },
      };
      const spawned = () =>
        Bun.spawn([process.execPath, 'sync.ts'], { cwd: folder, env, stdout: 'ignore', stderr: 'pipe' });
      const whole = async (): Promise<Run> => {
        const child = spawned();
        return { exitCode: await child.exited, stderr: [await child.stderr.text()] };
      };
      for (let kill = 0; kill < KILLS; kill += 1) {
        for (let change = 0; change < 50; change += 1) source.change();
        source.pass(MINUTE_MS);
        const child = spawned();
        await Bun.sleep(source.below(KILLED_WITHIN_MS));
        child.kill('SIGKILL');
        await child.exited;
      }
      source.settle();
      await settle(whole);
      await compare();
    },
    TEST_MS_MAX,
  );
});

describe('the limits of a key', () => {
  starting({ keyLimit: 3 });

  test('are waited for, as long as Retry-After asks', async () => {
    for (let count = 0; count < 20; count += 1)
      source.add('contacts', { company_id: source.add('companies').id });
    const sent: { at: number; status: number; waitMs: number }[] = [];
    const { thrown } = await run(async (request) => {
      const response = await toEither(request);
      const waitMs = Number(response.headers.get('Retry-After')) * SECOND_MS;
      if (request.url.startsWith(CRM)) sent.push({ at: source.now, status: response.status, waitMs });
      return response;
    });
    expect(thrown).toBeUndefined();
    const refused = [...sent.entries()].filter(([, { status }]) => status === 429);
    expect(refused.length).toBeGreaterThan(1);
    for (const [index, { at, waitMs }] of refused) {
      expect(waitMs).toBeGreaterThan(0);
      expect(sent[index + 1]).toEqual({ at: at + waitMs, status: 200, waitMs: 0 });
    }
    for (const kind of KINDS) expect((await all(kind)).length).toBe(20);
  });
});

describe('a record that is dated in the future', () => {
  starting();

  test('does not hide the changes made until then', async () => {
    const early = source.add('contacts');
    const nextYear = new Date(source.now + YEAR_MS).toISOString();
    source.rows.contacts.set(early.id, { ...early, updated_at: nextYear });
    await settle();
    source.pass(60 * MINUTE_MS);
    source.add('contacts');
    await settle();
    await compare();
  });
});

describe('a record that crm rejects', () => {
  starting();

  test('is reported and tried again, and everything else is copied', async () => {
    const company = source.add('companies', { domain: 'not a domain' });
    const waiting = source.add('contacts', { company_id: company.id });
    const broken = source.add('contacts', { email: 'broken' });
    const copied = source.add('contacts', { email: 'fine@mail.example' });
    const first = await run();
    expect(first).toMatchObject({ thrown: undefined, exitCode: 1 });
    const reported = first.stderr.map((line) => line.split(': ').slice(0, 2).join(': '));
    expect(reported.toSorted()).toEqual(
      [
        `companies ${company.id}: domain`,
        `contacts ${waiting.id}: company_id`,
        `contacts ${broken.id}: email`,
      ].toSorted(),
    );
    expect((await all('contacts')).map(({ last_name }) => last_name)).toEqual([copied.name]);
    source.pass(60 * MINUTE_MS);
    expect(await run()).toEqual(first);
    source.set('companies', company, { domain: 'a-domain.example' });
    source.set('contacts', broken, { email: 'whole@mail.example' });
    expect(await run()).toEqual({ thrown: undefined, exitCode: 0, stderr: [] });
    await compare();
  });

  test('is tried again when crm has changed and the source has not', async () => {
    const first = source.add('contacts', { email: 'same@mail.example' });
    await settle();
    const second = source.add('contacts', { email: 'Same@mail.example' });
    expect((await run()).stderr).toEqual([expect.stringContaining(`contacts ${second.id}: external_id`)]);
    source.pass(60 * MINUTE_MS);
    source.add('contacts');
    expect((await run()).exitCode).toBe(1);
    await api.update('contacts', (await recordOf('contacts', first)).id, { email: null });
    expect((await run()).exitCode).toBe(0);
    expect((await recordOf('contacts', second)).email).toBe('Same@mail.example');
    source.set('contacts', first, { email: null });
  });

  test('there can be more of them than a batch takes, and pages of any size', async () => {
    source.pageRows = 250;
    const rows = Array.from({ length: 250 }, () => source.add('contacts', { email: 'broken' }));
    expect((await run()).stderr.length).toBe(250);
    for (const [index, row] of rows.entries())
      source.set('contacts', row, { email: `p${index}@mail.example` });
    expect((await run()).stderr).toEqual([]);
    for (const [index, row] of rows.entries())
      source.set('contacts', row, { email: `p${(index + 1) % rows.length}@mail.example` });
    expect((await run()).stderr).toEqual([]);
    const emails = new Map((await all('contacts')).map(({ last_name, email }) => [last_name, email]));
    expect(rows.map(({ name }) => emails.get(name))).toEqual(
      rows.map((_, index) => `p${(index + 1) % rows.length}@mail.example`),
    );
  });
});

describe('records that crm has already', () => {
  starting();

  test('are adopted by email and domain, and keep what the source does not name', async () => {
    const contact = await api.create('contacts', { email: 'ada@mail.example', phone: '+44 20 7946 0000' });
    const alternative = await api.create('contacts', {
      email: 'b@mail.example',
      alt_emails: ['c@mail.example'],
    });
    const company = await api.create('companies', { domain: 'engines.example', city: 'London' });
    const own = source.add('companies', { domain: 'engines.example' });
    const ada = source.add('contacts', { email: 'Ada@mail.example', company_id: own.id });
    const charles = source.add('contacts', { email: 'c@mail.example' });
    await settle();
    expect(await recordOf('companies', own)).toMatchObject({
      id: company.id,
      city: 'London',
      name: own.name,
    });
    expect(await recordOf('contacts', ada)).toMatchObject({ id: contact.id, phone: contact.phone });
    expect((await recordOf('contacts', charles)).id).toBe(alternative.id);
    await settle();
    await compare();
  });

  test('stay as they are if the source does not have them', async () => {
    const contact = await api.create('contacts', { email: 'other@mail.example' });
    source.add('contacts', { email: 'more@mail.example' });
    await settle();
    expect(await api.fetch('contacts', contact.id)).toEqual(contact);
  });
});

describe('the text', () => {
  const program = RECIPES.sync?.text ?? '';

  test('is the same in the manual and in the description, and names the generator that made this client', async () => {
    const page = await Bun.file(join(ROOT, 'cli/manual/sync.md')).text();
    const { devDependencies } = await Bun.file(join(ROOT, 'package.json')).json();
    const { info }: Json = await openApiDocument();
    for (const text of [page, info.description]) expect(text).toContain(`\`\`\`ts\n${program}\`\`\`\n`);
    const versionOf = (name: string) => `${name}@${devDependencies[name]}`;
    const [major] = devDependencies['typescript-5'].split('@').at(-1).split('.');
    expect(page).toContain(`bun add ${versionOf('openapi-fetch')}\n`);
    expect(page).toContain(`bun add --dev ${versionOf('openapi-typescript')} typescript@${major}\n`);
  });

  test(
    'compiles strictly, and is formatted',
    async () => {
      const project = { compilerOptions: OPTIONS, files: ['sync.ts'] };
      await Bun.write(join(folder, 'tsconfig.json'), JSON.stringify(project));
      const tsc = Bun.spawn([process.execPath, join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder], {
        stdout: 'pipe',
      });
      expect(await tsc.stdout.text()).toBe('');
      const biome = join(ROOT, 'node_modules/.bin/biome');
      const formatted = Bun.spawn([biome, 'format', '--stdin-file-path=sync.ts'], {
        ...{ cwd: ROOT, stdin: new Blob([program]), stdout: 'pipe' },
      });
      expect(await formatted.stdout.text()).toBe(program);
    },
    TEST_MS_MAX,
  );
});
