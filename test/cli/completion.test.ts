// Completion: which words can come next, and what bash, zsh and fish make of them when Tab is pressed.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { completions } from '../../cli/completion-words.ts';
import { shortIdOf } from '../../cli/input/short-id.ts';
import { buildProgram } from '../../cli/program.ts';
import { RECIPES } from '../../cli/recipes/recipes.ts';
import { V1_SCOPES } from '../../db/model/resources/registry.ts';
import { Sandbox } from '../support/command.ts';
import { roundThat } from '../support/rounds.ts';
import { pathWithCrm } from '../support/typed-command.ts';

const sandbox = new Sandbox();
beforeAll(async () => {
  await sandbox.ok(['init', '--org', 'Acme Inc']);
  await sandbox.ok(['orgs', 'create', 'Analytical Engines']);
  await sandbox.write('people.csv', 'email\n');
  await sandbox.write('config/crm/config.json', '{"profiles": {"live": {}, "local": {}}}');
});
afterAll(async () => {
  await server.stop(true);
  await sandbox[Symbol.asyncDispose]();
});

const DEAL = { id: '019b76da-a800-7000-8000-000000000000', name: 'Loom\n1' };
const SHORT = shortIdOf(DEAL.id);
const PIPELINE = { id: 'p', name: 'Sales', stages: [{ name: 'Closed won' }] };
const server = Bun.serve({
  port: 0,
  fetch: ({ url }) => {
    const data = [url.includes('/pipelines') ? PIPELINE : DEAL];
    const page_info = { has_next_page: false, end_cursor: null };
    return Response.json({ object: 'list', data, page_info, meta: {} });
  },
});
const asked = () => ({ CRM_URL: String(server.url), CRM_API_KEY: 'service_live_x' });
// A shell starts crm for every line, which takes seconds where the machine is busy with other tests.
const SHELL_MS_MAX = 300_000;

describe('the words', () => {
  const program = buildProgram();
  const sources = {
    organizations: async () => ['Acme Inc', 'Analytical Engines'],
    profiles: async () => ['live', 'local'],
    recipes: async () => Object.keys(RECIPES),
    records: async (resource: string) => [`d21ykb7t07\tFirst of ${resource}`, 'd21ykb7t08'],
    pipelines: async (kind: string) => (kind === 'stage' ? ['Proposal', 'Closed won'] : ['Sales']),
  };
  const found = (words: readonly string[]) => completions(program, words, sources);

  test.each([
    [['ke'], ['keys']],
    [
      ['keys', ''],
      ['issue', 'list', 'update', 'rotate', 'revoke'],
    ],
    [
      ['list', 'co'],
      ['companies', 'contacts'],
    ],
    [['export', 'a'], ['all']],
    [['watch', 'deals', 'ta'], ['tasks']],
    [
      ['-o', ''],
      ['table', 'json', 'ndjson', 'csv'],
    ],
    [['list', 'contacts', '--sort-d'], ['--sort-direction']],
    [
      ['list', '--sort-direction', ''],
      ['asc', 'desc'],
    ],
    [['completion', 'f'], ['fish']],
    [
      ['search', 'ada', '--types', 'co'],
      ['contacts', 'companies'],
    ],
    [['search', 'ada', '--types', 'contacts,co'], ['contacts,companies']],
    [
      ['list', 'deals', '--sort-by', 'e'],
      ['estimated_value', 'estimated_close_date'],
    ],
    [
      ['export', 'deals', '--fields', 'name,cu'],
      ['name,currency', 'name,custom'],
    ],
    [['get', 'contacts', 'ID', '--include', 'company,o'], ['company,owner']],
    [
      ['count', 'deals', '--where', 'co'],
      ['company_id', 'contacts', 'companies'],
    ],
    [
      ['list', 'deals', '--filter', 'sta'],
      ['stage_id=', 'status=', 'stage='],
    ],
    [['list', 'deals', '--filter', 'created'], ['created_since=']],
    [
      ['list', 'deals', '--filter', 'status='],
      ['status=open', 'status=won', 'status=lost'],
    ],
    [
      ['create', 'contacts', 'keep_in_touch='],
      ['keep_in_touch=true', 'keep_in_touch=false'],
    ],
    [['update', 'deals', 'ID', 'curr'], ['currency=']],
    [['update', 'deals', 'ID', 'currency=GBP', 'curr'], ['currency=']],
    [['import', 'deals', 'x.csv', '--set', 'curr'], ['currency=']],
    [['keys', 'issue', '--scopes', 'deals:read,deals:w'], ['deals:read,deals:write']],
    [['keys', 'issue', '--api', 'v1', '--scopes', ''], [...V1_SCOPES]],
    [
      ['keys', 'issue', '--org', 'a'],
      ['Acme Inc', 'Analytical Engines'],
    ],
    [['orgs', 'quota', 'an'], ['Analytical Engines']],
    [['init', '--org', 'a'], []],
    [
      ['list', 'deals', '--profile', 'l'],
      ['live', 'local'],
    ],
    [
      ['profile', 'use', 'l'],
      ['live', 'local'],
    ],
    [['export', 'deals', '--format=c'], ['--format=csv']],
    [['recipe', 'sys'], ['systemd']],
    [
      ['create', 'deals', 'compan'],
      ['company_id=', 'company='],
    ],
    [['profile', 'use', 'lo'], ['local']],
    [['profile', 'add', 'lo'], []],
    [
      ['get', 'deals', ''],
      ['d21ykb7t07\tFirst of deals', 'd21ykb7t08'],
    ],
    [['history', 'contacts', 'd21ykb7t08'], ['d21ykb7t08']],
    [['undelete', 'contacts', 'd'], []],
    [['list', 'deals', '--filter', 'stage=pr'], ['stage=Proposal']],
    [['list', 'deals', '--filter', 'stage=Pr'], ['stage=Proposal']],
    [['update', 'deals', 'ID', 'pipeline='], ['pipeline=Sales']],
    // Files are completed by the shell.
    [['import', 'deals', ''], []],
  ])('after %p', async (words, expected) => {
    expect(await found(words)).toEqual(expected);
  });
});

describe('crm __complete', () => {
  const complete = async (...words: string[]) =>
    (await sandbox.crm(['__complete', '--', ...words])).stdout.split('\n').slice(0, -1);

  test('knows organizations and profiles', async () => {
    expect(await complete('keys', 'issue', '--org', '')).toEqual(['Acme Inc', 'Analytical Engines']);
    expect(await complete('--profile', 'lo')).toEqual(['local']);
  });

  test('asks the server for records and stages, and says nothing if it does not answer', async () => {
    const env = asked();
    // It says nothing where the server, this process, is too busy to answer soon.
    const ask = (...words: string[]) =>
      roundThat(
        (said) => said !== '',
        async () => (await sandbox.crm(['__complete', ...words], { env })).stdout,
      );
    expect(await ask('--described', '--', 'get', 'deals', '')).toMatch(new RegExp(`^${SHORT}\tLoom.*1\n$`));
    expect(await ask('--', 'get', 'deals', '')).toBe(`${SHORT}\n`);
    expect(await ask('--', 'list', 'deals', '--filter', 'stage=')).toBe('stage=Closed won\n');
    const nobody = { ...env, CRM_URL: 'http://127.0.0.1:9' };
    const silent = await sandbox.crm(['__complete', '--', 'get', 'deals', ''], { env: nobody });
    expect(silent).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  test('makes no database, and says nothing where there is none', async () => {
    const { code, stdout, stderr } = await sandbox.crm([
      ...['__complete', '--', '--db', 'none.db', 'keys', 'issue', '--org', ''],
    ]);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await sandbox.exists('none.db')).toBe(false);
  });
});

/** What a person types before Tab, and what stands on the line then. */
const TYPED: readonly (readonly [typed: string, line: string])[] = [
  ['crm ke', 'crm keys '],
  ['crm list compan', 'crm list companies '],
  ['crm list deals --sort-b', 'crm list deals --sort-by '],
  ['crm list deals --filter stat', 'crm list deals --filter status='],
  ['crm list deals --filter status=w', 'crm list deals --filter status=won '],
  ['crm list deals --fields name,curr', 'crm list deals --fields name,currency '],
  ['crm create contacts keep_in_touch=t', 'crm create contacts keep_in_touch=true '],
  ['crm keys issue --scopes deals:read,deals:w', 'crm keys issue --scopes deals:read,deals:write '],
  ['crm keys list --org Acm', 'crm keys list --org Acme\\ Inc '],
  ['crm list deals --profile li', 'crm list deals --profile live '],
  ['crm import deals --format=v', 'crm import deals --format=vcf '],
  ['crm import deals peop', 'crm import deals people.csv '],
  [`crm get deals ${SHORT.slice(0, 4)}`, `crm get deals ${SHORT} `],
];

const PROMPT = 'ready> ';
const SHELLS: Readonly<Record<string, { command: string[]; setup: string }>> = {
  bash: {
    command: ['bash', '--norc', '--noprofile', '-i'],
    setup: 'bind "set enable-bracketed-paste off"; source <(crm completion bash)',
  },
  zsh: {
    command: ['zsh', '-f', '-i'],
    setup: 'unset zle_bracketed_paste; autoload -Uz compinit; compinit -u; source <(crm completion zsh)',
  },
};

describe.each(Object.entries(SHELLS))('%s', (shell, { command, setup }) => {
  const isMissing = Bun.which(shell) === null;
  test.skipIf(isMissing)(
    `${isMissing ? 'is not installed; ' : ''}completes what is typed`,
    async () => {
      let shown = '';
      const isShown = async (text: string, ms: number) => {
        for (const deadline = Date.now() + ms; Date.now() < deadline; await Bun.sleep(10))
          if (plain(shown).includes(text)) return true;
        return false;
      };
      const isTyped = (text: string, expected: string, ms: number) => {
        shown = '';
        child.terminal?.write(text);
        return isShown(expected, ms);
      };
      const explained = (expected: string) =>
        new Error(`${shell} showed ${plain(shown)} and not ${expected}`);
      const child = Bun.spawn(command, {
        cwd: sandbox.folder,
        env: {
          ...{ PATH: pathWithCrm(sandbox.path(shell)), HOME: sandbox.folder, TERM: 'xterm', PS1: PROMPT },
          XDG_CONFIG_HOME: sandbox.path('config'),
          ...asked(),
        },
        terminal: {
          cols: 200,
          rows: 40,
          data: (_terminal, data) => (shown += new TextDecoder().decode(data)),
        },
      });
      if (!(await isTyped(`PS1='${PROMPT}'; ${setup}; echo set''up\r`, '\nsetup', 60_000)))
        throw explained('setup');
      for (const [typed, line] of TYPED) {
        let isComplete = false;
        // Again and longer each time, since nothing comes where the server, this process, is too busy to answer soon.
        for (let run = 1; !isComplete; run++) {
          if (run > 4) throw explained(line);
          // Ctrl-U and Enter until there is an empty line: a shell that is still completing may not read them.
          while (!(await isTyped('\u0015\r', PROMPT, 500)));
          isComplete = await isTyped(`${typed}\t`, line, run * 10_000);
        }
      }
      child.terminal?.write('exit\r');
      child.kill('SIGKILL');
      await child.exited;
      child.terminal?.close();
    },
    SHELL_MS_MAX,
  );
});

const hasFish = Bun.which('fish') !== null;
test.skipIf(!hasFish)(
  `fish ${hasFish ? 'completes what is typed' : 'is not installed'}`,
  async () => {
    const script = TYPED.map(([typed]) => `complete -C '${typed}'; echo ==`).join('\n');
    const find = async () => {
      const child = Bun.spawn(['fish', '--no-config', '-c', `crm completion fish | source\n${script}`], {
        cwd: sandbox.folder,
        env: {
          ...{ PATH: pathWithCrm(sandbox.path('fish')), HOME: sandbox.folder },
          XDG_CONFIG_HOME: sandbox.path('config'),
          ...asked(),
        },
        ...({ stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' } as const),
      });
      const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
      expect(stderr).toBe('');
      return stdout.split('==\n').slice(0, -1);
    };
    // Nothing comes where the server, this process, is too busy to answer soon.
    const found = await roundThat((all) => !all.includes(''), find);
    const lastWords = TYPED.map(([, line]) =>
      line
        .trim()
        .split(/(?<!\\) /)
        .at(-1)
        ?.replace('\\', ''),
    );
    // Behind a tab is a description, which fish has for files.
    expect(found.map((text) => text.split(/[\t\n]/)[0])).toEqual(lastWords);
  },
  SHELL_MS_MAX,
);

// What positions the cursor, colors text or switches modes.
const CONTROLS = /\p{Cc}(?:\[[\d;?]*[A-Za-z]|[=>])|(?!\n)\p{Cc}/gu;

function plain(output: string): string {
  return output.replaceAll(CONTROLS, '');
}
