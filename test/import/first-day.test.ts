// From an empty folder to all of the sample data, on the executable: what its messages say is typed, and nothing else.
import { afterAll, expect, test } from 'bun:test';
import { copyFileSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { adviceIn, type Step } from '../fixtures/import/follower.ts';
import { BINARY, Sandbox } from '../support/command.ts';
import { freePort } from '../support/ports.ts';
import { Screen } from '../support/screen.ts';
import { SPARINGLY } from '../support/sparingly.ts';
import { pathWithCrm } from '../support/typed-command.ts';

const DATA = join(import.meta.dir, '../../../shared/data');
const EXPORTS = join(import.meta.dir, '../fixtures/import/exports');
const isPossible = existsSync(BINARY) && existsSync(DATA);
if (!isPossible) console.warn(`skipped: ${BINARY} is not built, or the sample data is not at ${DATA}`);

const PRODUCTS = ['hubspot', 'salesforce', 'pipedrive'];
const REFERRED_FIRST: [resource: string, files: RegExp][] = [
  ['companies', /compan|account|organiz/],
  ['contacts', /contact|people/],
  ['deals', /deal|opportunit/],
];
const TIMEOUT_MS = 900_000;
const STEPS_MAX = 6;
const FAILS_MAX = 2;

const sandbox = new Sandbox([BINARY]);
const servers: Bun.Subprocess[] = [];
afterAll(async () => {
  for (const server of servers) {
    server.kill();
    await server.exited;
  }
  sandbox[Symbol.dispose]();
});

/** What a shell has typed into it, one line at a time. */
function shell(path: string, port: number) {
  const env: Record<string, string> = {
    ...{ PATH: path, HOME: sandbox.folder, XDG_CONFIG_HOME: sandbox.path('config'), NO_COLOR: '1' },
    ...SPARINGLY,
    // Other tests use the usual port: nothing else is different from what is typed.
    CRM_URL: `http://127.0.0.1:${port}`,
  };
  const run = async (line: string): Promise<Step & { stdout: string }> => {
    const [, name, value] = /^export (\w+)=(\S+)$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) env[name] = value;
    const options = { cwd: sandbox.folder, env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' } as const;
    const child = Bun.spawn(['bash', '-c', line], options);
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    return { line, code: await child.exited, stdout, stderr };
  };
  const serve = async (line: string) => {
    const command = ['bash', '-c', `exec ${line} --port ${port} --log off`];
    const options = { cwd: sandbox.folder, env, stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' } as const;
    const server = Bun.spawn(command, options);
    servers.push(server);
    const decoder = new TextDecoder();
    let said = '';
    for await (const chunk of server.stderr) {
      said += decoder.decode(chunk, { stream: true });
      if (/^Next: .*\n/m.test(said)) return said;
    }
    throw new Error(`${line} ended: ${said}`);
  };
  /** Does what each message says until everything is in. */
  const follow = async (first: string): Promise<Step[]> => {
    const steps = [await run(first)];
    for (let last = steps[0]; last !== undefined && last.code !== 0; last = steps.at(-1)) {
      const advice = adviceIn(last.stderr);
      if (advice === undefined || advice.corrected !== undefined || steps.length === STEPS_MAX) break;
      steps.push(await run(advice.line));
    }
    const told = steps.map(({ line, code, stderr }) => `$ ${line}\n${stderr}exit ${code}`).join('\n');
    const failed = steps.filter(({ code }) => code !== 0).map(({ line }) => line);
    expect(steps.at(-1)?.code, told).toBe(0);
    expect(failed.length, told).toBeLessThanOrEqual(FAILS_MAX);
    expect(new Set(failed).size, told).toBe(failed.length);
    return steps;
  };
  return { run, serve, follow };
}

/** The lines below `Next:`, without the remarks beside them. */
function nextLines(text: string): string[] {
  const [, next = ''] = /^Next: ([\s\S]*)/m.exec(text) ?? [];
  return next
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/ {3,}\(.*$/, '').trim());
}

test.skipIf(!isPossible)(
  'a newcomer has 8,800 deals, and all of other products, after doing what is said',
  async () => {
    const { run, serve, follow } = shell(pathWithCrm(sandbox.path('bin')), await freePort());
    for (const name of ['sales_pipeline.csv', 'accounts.csv'])
      copyFileSync(join(DATA, name), sandbox.path(name));
    const others = readdirSync(EXPORTS).filter((name) =>
      PRODUCTS.some((product) => name.startsWith(product)),
    );
    for (const name of others) copyFileSync(join(EXPORTS, name), sandbox.path(name));

    const made = await sandbox.onTerminal(['init', '--org', 'Acme Inc'], { columns: 160 });
    expect(made.code).toBe(0);
    const [start = '', ...rest] = nextLines(new Screen().write(made.output).lines().join('\n'));
    expect(start).toBe('crm serve');
    const [afterwards = ''] = nextLines(await serve(start));
    for (const line of [...rest, afterwards]) {
      const { code, stderr } = await run(line);
      expect([line, code, stderr.includes('crm:')]).toEqual([line, 0, false]);
    }

    const companies = await follow('crm import companies accounts.csv');
    expect(companies.at(-1)?.stderr).toContain('85 created, 0 rejected');
    const deals = await follow('crm import deals sales_pipeline.csv');
    const created = deals.map(({ stderr }) => / ([\d,]+) created/.exec(stderr)?.[1]?.replace(',', '') ?? '0');
    expect(created.reduce((sum, one) => sum + Number(one), 0)).toBe(8_800);
    expect((await run('crm count deals')).stdout.trim()).toBe('8800');
    for (const product of PRODUCTS) {
      const [issue = ''] = nextLines((await run(`crm orgs create ${product}`)).stderr);
      await run(`export CRM_API_KEY=${(await run(issue)).stdout.trim()}`);
      const files = others.filter((name) => name.startsWith(product));
      // First what the others refer to.
      for (const [resource, words] of REFERRED_FIRST)
        for (const name of files.filter((file) => words.test(file)))
          await follow(`crm import ${resource} ${name}`);
    }
  },
  TIMEOUT_MS,
);
