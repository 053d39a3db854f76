// The programs that receive webhooks, exactly as they are printed: what they accept, and that they handle each once.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { RECIPES } from '../../cli/recipes/recipes.ts';
import { openApiDocument } from '../../server/openapi/document.ts';
import { newWebhookSecret, signatureHeaders } from '../../server/webhooks/signature.ts';
import { Sandbox } from '../support/command.ts';
import { Following } from '../support/following.ts';
import type { Json } from '../support/json.ts';
import { LANGUAGES } from '../support/outside-copy.ts';
import { freePort } from '../support/ports.ts';
import { until } from '../support/until.ts';

const ROOT = join(import.meta.dir, '../..');
const TEST_MS_MAX = 300_000;
const PROGRAMS = {
  TypeScript: { command: process.execPath, recipe: RECIPES.receive },
  Python: { command: 'python3', recipe: RECIPES['receive-python'] },
};

describe.each(LANGUAGES)('in %s (on this machine: %p)', (language, isHere) => {
  const secret = newWebhookSecret();
  let folder: string;
  let url: string;
  let port: number;
  let child: Bun.Subprocess<'ignore', 'pipe', 'inherit'> | undefined;
  let handled = '';

  const start = async () => {
    const { command, recipe } = PROGRAMS[language];
    const own = Bun.spawn([command, recipe?.file ?? ''], {
      cwd: folder,
      env: { PATH: process.env.PATH ?? '', WEBHOOK_SECRET: secret, PORT: String(port) },
      ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' },
    });
    child = own;
    const collect = async () => {
      for await (const chunk of own.stdout) handled += new TextDecoder().decode(chunk);
    };
    void collect();
    const isUp = () =>
      fetch(url).then(
        () => true,
        () => false,
      );
    await until(isUp);
  };
  const stop = async () => {
    child?.kill('SIGKILL');
    await child?.exited;
  };
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'crm-receive-'));
    const { recipe } = PROGRAMS[language];
    await Bun.write(join(folder, recipe?.file ?? ''), recipe?.text ?? '');
    port = await freePort();
    url = `http://127.0.0.1:${port}`;
    if (isHere) await start();
  }, TEST_MS_MAX);
  afterAll(async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const bodyOf = (id: string) =>
    JSON.stringify({ type: 'contacts.created', timestamp: '2026-01-31T09:30:00Z', data: { record_id: id } });
  const seconds = () => Math.floor(Date.now() / 1_000);
  const signed = (id: string, body: string, secrets = [secret], timestamp = seconds()) =>
    signatureHeaders({ id, timestamp, body }, secrets);
  const post = async (body: string, headers: Record<string, string>) =>
    (await fetch(url, { method: 'POST', body, headers })).status;
  const isDone = (id: string) =>
    until(
      () => handled.includes(`contacts.created ${id}\n`),
      () => handled,
    );

  test.skipIf(!isHere)(
    'accepts what is signed with its secret, by either library, and by one of two',
    async () => {
      expect(await post(bodyOf('ours'), signed('msg_1', bodyOf('ours')))).toBe(204);
      const now = new Date();
      const signature = new Webhook(secret).sign('msg_2', now, bodyOf('theirs'));
      const time = String(Math.floor(now.getTime() / 1_000));
      const headers = { 'webhook-id': 'msg_2', 'webhook-timestamp': time, 'webhook-signature': signature };
      expect(await post(bodyOf('theirs'), headers)).toBe(204);
      const both = signed('msg_3', bodyOf('rotated'), [newWebhookSecret(), secret]);
      expect(await post(bodyOf('rotated'), both)).toBe(204);
      for (const id of ['ours', 'theirs', 'rotated']) await isDone(id);
    },
  );

  test.skipIf(!isHere)('refuses everything else', async () => {
    const body = bodyOf('forged');
    const good = signed('msg_4', body);
    const forged: [string, string, Record<string, string>][] = [
      ['no headers', body, {}],
      ['another secret', body, signed('msg_4', body, [newWebhookSecret()])],
      ['another body', bodyOf('altered'), good],
      ['another ID', body, { ...good, 'webhook-id': 'msg_5' }],
      ['too old', body, signed('msg_4', body, [secret], seconds() - 400)],
      ['from the future', body, signed('msg_4', body, [secret], seconds() + 400)],
      ['no time', body, { ...good, 'webhook-timestamp': 'now' }],
      ['an empty signature', body, { ...good, 'webhook-signature': 'v1,' }],
      ['no signature', body, { ...good, 'webhook-signature': 'é' }],
      ['another kind of signature', body, { ...good, 'webhook-signature': 'v1a,AAAA' }],
    ];
    for (const [what, text, headers] of forged)
      expect([what, await post(text, headers)]).toEqual([what, 401]);
    expect(handled).not.toContain('forged');
  });

  test.skipIf(!isHere)(
    'handles each once, in the order of their arrival, also after it was killed',
    async () => {
      const ids = Array.from({ length: 20 }, (_, index) => `record-${index}`);
      for (const [index, id] of ids.entries()) {
        const send = () => post(bodyOf(id), signed(`msg_once_${id}`, bodyOf(id)));
        expect(await send()).toBe(204);
        if (index % 3 === 0) expect(await send()).toBe(204);
        if (index === 10) {
          await stop();
          await start();
        }
      }
      await isDone('record-19');
      const done = [...handled.matchAll(/record-\d+/g)].map(([id]) => id);
      // What was handled at the moment of the kill can be handled again.
      const repeated = done.filter((id, index) => done.indexOf(id) !== index);
      expect(repeated.length).toBeLessThanOrEqual(1);
      expect([...new Set(done)]).toEqual(ids);
    },
    TEST_MS_MAX,
  );

  test.skipIf(!isHere)(
    'gets what "crm listen" forwards',
    async () => {
      await using sandbox = await Sandbox.withDatabase();
      const server = await sandbox.serveOrganization();
      const args = ['listen', '--forward', url, '--secret', secret];
      const listening = await Following.start(sandbox, args);
      const { id } = JSON.parse(await sandbox.ok(['create', 'contacts', 'first_name=Ada', '-o', 'json']));
      await isDone(id);
      await listening.stop('SIGTERM');
      await server.stop();
    },
    TEST_MS_MAX,
  );
});

describe('the text', () => {
  test('is the same in the manual and in the description', async () => {
    const page = await Bun.file(join(ROOT, 'cli/manual/receive-webhooks.md')).text();
    const { info }: Json = await openApiDocument();
    for (const text of [page, info.description]) {
      expect(text).toContain(`\`\`\`ts\n${RECIPES.receive?.text}\`\`\`\n`);
      expect(text).toContain(`\`\`\`python\n${RECIPES['receive-python']?.text}\`\`\`\n`);
    }
  });

  test(
    'compiles strictly, and is formatted',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'crm-receive-'));
      symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
      const text = RECIPES.receive?.text ?? '';
      await Bun.write(join(folder, 'receive.ts'), text);
      const compilerOptions = {
        ...{ target: 'ESNext', module: 'Preserve', moduleResolution: 'bundler', types: ['bun-types'] },
        ...{
          strict: true,
          noUncheckedIndexedAccess: true,
          noUnusedLocals: true,
          noEmit: true,
          skipLibCheck: true,
        },
      };
      await Bun.write(
        join(folder, 'tsconfig.json'),
        JSON.stringify({ compilerOptions, files: ['receive.ts'] }),
      );
      const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
      const tsc = Bun.spawn([process.execPath, compiler, '-p', folder], { stdout: 'pipe' });
      expect(await tsc.stdout.text()).toBe('');
      const biome = join(ROOT, 'node_modules/.bin/biome');
      const formatted = Bun.spawn([biome, 'format', '--stdin-file-path=receive.ts'], {
        ...{ cwd: ROOT, stdin: new Blob([text]), stdout: 'pipe' },
      });
      expect(await formatted.stdout.text()).toBe(text);
      rmSync(folder, { recursive: true, force: true });
    },
    TEST_MS_MAX,
  );
});
