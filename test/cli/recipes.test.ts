// What operators get as files: each is in the list, and printed as it is.
import { expect, test } from 'bun:test';
import { RECIPES } from '../../cli/recipes/recipes.ts';
import { Sandbox } from '../support/command.ts';

test('a list names each recipe, and each is printed whole', async () => {
  using sandbox = new Sandbox();
  const list = await sandbox.ok(['recipe']);
  for (const [name, { file, text }] of Object.entries(RECIPES)) {
    expect(list).toContain(`crm recipe ${name} `);
    expect(list).toContain(file);
    expect(await sandbox.ok(['recipe', name])).toBe(text.trim());
  }
});

test('one that there is not is refused, with those that there are', async () => {
  using sandbox = new Sandbox();
  for (const name of ['nothing', 'toString']) {
    const { code, stderr } = await sandbox.crm(['recipe', name]);
    expect(code).toBe(2);
    expect(stderr).toContain('systemd');
  }
});

test('the memory that they leave to crm follows from what may be under way', async () => {
  using sandbox = new Sandbox();
  const help = await sandbox.ok(['serve', '--help']);
  const defaultOf = (flag: string) =>
    Number(new RegExp(`${flag} <n> .*?\\(default:\\s+(\\d+)\\)`, 's').exec(help)?.[1]);
  const underWay = 2 * defaultOf(' --body-mib');
  const mebibytes = (text: string | undefined, setting: RegExp) => Number(setting.exec(text ?? '')?.[1]);
  const server = 256;
  expect(mebibytes(RECIPES.systemd?.text, /^MemoryMax=(\d+)M$/m)).toBe(2 * server + 2 * underWay);
  expect(mebibytes(RECIPES.container?.text, /--memory (\d+)m /)).toBe(server + 2 * underWay);
  const compose = await Bun.file(new URL('../../db/postgres/deploy/compose.yaml', import.meta.url)).text();
  expect(mebibytes(compose, /^ {2}mem_limit: (\d+)m$/m)).toBe(server + 2 * underWay);
});

test('nothing of them lets crm reach what is root’s, or leaves its memory on a disk', async () => {
  // Root would follow what crm can put into a folder of its own.
  expect(RECIPES.logrotate?.text).toMatch(/^ +su crm crm$/m);
  // As crm, logrotate cannot enter /var/log/private, where the log of a dynamic user is.
  expect(RECIPES.logrotate?.text).toMatch(/^# +DynamicUser=no$/m);
  expect(RECIPES.systemd?.text).toMatch(/^LimitCORE=0$/m);
  expect(RECIPES.container?.text).toMatch(/^# +docker run (?:.*\\\n#)?.* --ulimit core=0 /m);
  const page = await Bun.file(new URL('../../cli/manual/deploy.md', import.meta.url)).text();
  expect(page).toMatch(/ docker run (?:.*\\\n)*.* --ulimit core=0 /);
  const compose = await Bun.file(new URL('../../db/postgres/deploy/compose.yaml', import.meta.url)).text();
  expect(compose).toMatch(/^x-crm: &crm\n(?: .*\n)* {2}ulimits: \{ core: 0 \}$/m);
});
