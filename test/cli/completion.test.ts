// Completion: which words can come next, and what bash, zsh and fish make of them when Tab is pressed.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { completions } from '../../cli/completion-words.ts';
import { buildProgram } from '../../cli/program.ts';
import { RECIPES } from '../../cli/recipes/recipes.ts';
import { V1_SCOPES } from '../../db/model/resources/registry.ts';
import { Sandbox } from '../support/command.ts';
import { pathWithCrm } from '../support/typed-command.ts';

const sandbox = new Sandbox();
beforeAll(async () => {
  await sandbox.ok(['init', '--org', 'Acme Inc']);
  await sandbox.ok(['orgs', 'create', 'Analytical Engines']);
  await sandbox.write('people.csv', 'email\n');
  await sandbox.write('config/crm/config.json', '{"profiles": {"live": {}, "local": {}}}');
});
afterAll(() => sandbox[Symbol.asyncDispose]());

describe('the words', () => {
  const program = buildProgram();
  const sources = {
    organizations: async () => ['Acme Inc', 'Analytical Engines'],
    profiles: async () => ['live', 'local'],
    recipes: async () => Object.keys(RECIPES),
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
      const type = async (text: string, expected: string) => {
        shown = '';
        child.terminal?.write(text);
        if (!(await isShown(expected, 20_000)))
          throw new Error(`${shell} showed ${plain(shown)} and not ${expected}`);
      };
      const child = Bun.spawn(command, {
        cwd: sandbox.folder,
        env: {
          ...{ PATH: pathWithCrm(sandbox.path(shell)), HOME: sandbox.folder, TERM: 'xterm', PS1: PROMPT },
          XDG_CONFIG_HOME: sandbox.path('config'),
        },
        terminal: {
          cols: 200,
          rows: 40,
          data: (_terminal, data) => (shown += new TextDecoder().decode(data)),
        },
      });
      await type(`PS1='${PROMPT}'; ${setup}; echo set''up\r`, '\nsetup');
      for (const [typed, line] of TYPED) {
        // Ctrl-U and Enter until there is an empty line: a shell that is still completing may not read them.
        do {
          shown = '';
          child.terminal?.write('\u0015\r');
        } while (!(await isShown(PROMPT, 500)));
        await type(`${typed}\t`, line);
      }
      child.terminal?.write('exit\r');
      child.kill('SIGKILL');
      await child.exited;
      child.terminal?.close();
    },
    60_000,
  );
});

const hasFish = Bun.which('fish') !== null;
test.skipIf(!hasFish)(
  `fish ${hasFish ? 'completes what is typed' : 'is not installed'}`,
  () => {
    const script = TYPED.map(([typed]) => `complete -C '${typed}'; echo ==`).join('\n');
    const { stdout, stderr } = Bun.spawnSync(
      ['fish', '--no-config', '-c', `crm completion fish | source\n${script}`],
      {
        cwd: sandbox.folder,
        env: {
          ...{ PATH: pathWithCrm(sandbox.path('fish')), HOME: sandbox.folder },
          XDG_CONFIG_HOME: sandbox.path('config'),
        },
      },
    );
    expect(stderr.toString()).toBe('');
    const found = stdout.toString().split('==\n').slice(0, -1);
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
  60_000,
);

// What positions the cursor, colors text or switches modes.
const CONTROLS = /\p{Cc}(?:\[[\d;?]*[A-Za-z]|[=>])|(?!\n)\p{Cc}/gu;

function plain(output: string): string {
  return output.replaceAll(CONTROLS, '');
}
