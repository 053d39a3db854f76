// What operators get as files: each is in the list, and printed as it is.
import { expect, test } from 'bun:test';
import { RECIPES } from '../../cli/recipes/recipes.ts';
import { Desk } from '../support/command.ts';

test('a list names each recipe, and each is printed whole', async () => {
  using desk = new Desk();
  const list = await desk.ok(['recipe']);
  for (const [name, { file, text }] of Object.entries(RECIPES)) {
    expect(list).toContain(`crm recipe ${name} `);
    expect(list).toContain(file);
    expect(await desk.ok(['recipe', name])).toBe(text.trim());
  }
});

test('one that there is not is refused, with those that there are', async () => {
  using desk = new Desk();
  for (const name of ['nothing', 'toString']) {
    const { code, stderr } = await desk.crm(['recipe', name]);
    expect(code).toBe(2);
    expect(stderr).toContain('systemd');
  }
});

test('nothing of them lets crm reach what is root’s, or leaves its memory on a disk', () => {
  // Root would follow what crm can put into a folder of its own.
  expect(RECIPES.logrotate?.text).toMatch(/^ +su crm crm$/m);
  expect(RECIPES.systemd?.text).toMatch(/^LimitCORE=0$/m);
});
