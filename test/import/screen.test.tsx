// The screen of an import: the mapping with the first rows, changed by keys before anything is sent.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { cleanup, render } from 'ink-testing-library';
import { Client } from '../../cli/api/client.ts';
import { readImportFlags } from '../../cli/import/flags.ts';
import { surveyInput } from '../../cli/import/plan/survey.ts';
import type { ImportRequest } from '../../cli/import/request.ts';
import type { ImportView } from '../../cli/import/screen/draft.ts';
import { ImportScreen } from '../../cli/import/screen/ImportScreen.tsx';
import { NameCheck } from '../../cli/import/session/missing-names.ts';
import { KeyInput } from '../../cli/terminal/keys.tsx';
import { getResource } from '../../db/model/resources/registry.ts';
import { Sandbox } from '../support/command.ts';
import { until } from '../support/until.ts';

const ROWS = [
  'opportunity_id,sales_agent,account,deal_stage,engage_date,close_value',
  '7QX1ZB3A,Ida Noe,Bluefjord,Won,10/20/2016,1054',
  'M2K9TT0C,Sam Oak,Harrowgate,Engaging,11/14/2016,',
].join('\n');

const DOWN = '\u001b[B';
const ENTER = '\r';
const ESCAPE = '\u001b';
const BACKSPACE = '\u007f';

let sandbox: Sandbox;
let client: Client;
beforeAll(async () => {
  sandbox = await Sandbox.serving();
  client = new Client({ url: sandbox.env.CRM_URL ?? '', apiKey: sandbox.env.CRM_API_KEY ?? '' });
  await sandbox.write('deals.csv', ROWS);
});
afterAll(() => sandbox[Symbol.asyncDispose]());
afterEach(cleanup);

const FLAGS = { ...readImportFlags({}), resource: 'deals', input: 'deals.csv' };

/** The screen in a terminal of some size, and what it is left with. */
async function screen(size: { columns: number; rows: number }, initial: ImportRequest = FLAGS) {
  const { survey, rowCount, rows } = await surveyInput(sandbox.path('deals.csv'), FLAGS);
  const estimate = '1,000,000 rows at 20,000 a minute: 50 min.';
  const subject: ImportView = {
    ...{ resource: getResource('deals'), rowCount, estimate },
    survey: { ...survey, name: 'deals.csv' },
    rows: await Array.fromAsync(await rows()),
    missingNames: (plan) => new NameCheck(client).missingNames(plan, survey),
  };
  const left: (ImportRequest | 'cancelled')[] = [];
  const leave = (result: ImportRequest | 'cancelled') => void left.push(result);
  const { stdin, lastFrame } = render(
    <KeyInput>
      <ImportScreen {...{ subject, initial, size, leave }} hasColor={false} />
    </KeyInput>,
  );
  const frame = () => lastFrame() ?? '';
  const type = async (keys: string, shows: string) => {
    stdin.write(keys);
    await until(() => frame().includes(shows));
  };
  return { frame, type, stdin, left };
}

const MAPPED = { ...FLAGS, map: ['opportunity_id=name'], custom: true };

describe('the screen', () => {
  test('shows what each column becomes, the first rows, and what can be done', async () => {
    const { frame } = await screen({ columns: 80, rows: 14 }, MAPPED);
    await until(() => frame().includes('exist'));
    expect(frame().split('\n')).toEqual([
      'Import deals from deals.csv, 2 rows',
      '1,000,000 rows at 20,000 a minute: 50 min.',
      '  COLUMN         → BECOMES                           FIRST ROWS',
      '› opportunity_id → name                              7QX1ZB3A · M2K9TT0C',
      '  sales_agent    → custom.sales_agent                Ida Noe · Sam Oak',
      '  account        → company_id, looked up by company  Bluefjord · Harrowgate',
      '  deal_stage     → stage_id, looked up by stage      Won · Engaging',
      '  engage_date    → custom.engage_date                10/20/2016 · 11/14/2016',
      '  close_value    → estimated_value                   1054',
      '',
      '1 stage does not exist (t creates it): "Engaging" (1 row)',
      '2 companies do not exist (c creates them): "Bluefjord" (1 row), "Harrowgate" (1…',
      '[x] k keep unknown  [ ] c new companies  [ ] t new stages',
      '↑↓ move · Enter change · i import · q cancel',
    ]);
  });

  test.each([
    [60, 15],
    [80, 24],
    [200, 60],
  ])('fits into %d × %d', async (columns, rows) => {
    const lines = (await screen({ columns, rows })).frame().split('\n');
    expect(lines.length).toBe(rows);
    expect(lines.filter((line) => Bun.stringWidth(line) > columns)).toEqual([]);
    expect(lines.at(-1)).toStartWith('↑↓ move');
  });

  test('does not import what cannot be, and says why', async () => {
    const { frame, stdin, type, left } = await screen({ columns: 80, rows: 24 });
    expect(frame()).toContain('No column maps to name');
    expect(frame()).toContain('? unknown');
    expect(frame()).not.toContain('i import');
    stdin.write('i');
    await type('k', '[x] k keep unknown');
    expect(left).toEqual([]);
  });

  test('a column gets another meaning from a list that typing narrows', async () => {
    const { stdin, type, left } = await screen({ columns: 80, rows: 24 }, { ...FLAGS, custom: true });
    await type(ENTER, '"opportunity_id" becomes:');
    await type('nam', 'becomes: nam');
    await type(ENTER, 'i import');
    await type(DOWN, '› sales_agent');
    await type(ENTER, '"sales_agent" becomes:');
    await type('leave?', 'No field has these letters.');
    await type(BACKSPACE, '› -  (leave out)');
    await type(ESCAPE, '› sales_agent    → custom');
    // KeyInput that arrive at once count one by one.
    await type('ct', '[x] t new stages');
    await type('', '1 stage will be created: "Engaging" (1 row)');
    stdin.write('i');
    await until(() => left.length > 0);
    const changed = { map: ['opportunity_id=name'], custom: true, createMissing: true, createStages: true };
    expect(left).toEqual([{ ...FLAGS, ...changed }]);
  });

  test('asks again when a column gets another meaning', async () => {
    const { frame, type } = await screen({ columns: 80, rows: 24 }, { ...MAPPED, createMissing: true });
    await type('', '1 stage does not exist');
    await type(DOWN.repeat(3), '› deal_stage');
    await type(ENTER, '"deal_stage" becomes:');
    await type('pipeline', 'becomes: pipeline');
    await type(DOWN + ENTER, '2 pipelines do not exist: "Won" (1 row), "Engaging" (1 row)');
    expect(frame()).not.toContain('stage does not exist');
    expect(frame()).toContain('2 companies will be created: "Bluefjord" (1 row)');
  });

  test('is left without an import by q', async () => {
    const { stdin, left } = await screen({ columns: 80, rows: 24 });
    stdin.write('q');
    await until(() => left.length > 0);
    expect(left).toEqual(['cancelled']);
  });
});

describe('on a terminal', () => {
  const count = async () => JSON.parse(await sandbox.ok(['count', 'deals', '-o', 'json'])).count;

  test('nothing is sent before it is left with i, and the same command without the screen is named', async () => {
    const words = ['import', 'deals', 'deals.csv'];
    const when = 'q cancel';
    const cancelled = await sandbox.onTerminal(words, { when, answer: 'q' });
    expect(cancelled.code).toBe(1);
    expect(cancelled.output).toContain('Nothing was imported.');
    expect(await count()).toBe(0);

    const stopped = await sandbox.onTerminal(words, { when, answer: '\u0003' });
    expect(stopped.code).toBe(130);
    // The terminal is on its own screen again.
    expect(stopped.output).toContain('\u001b[?1049l');

    const done = await sandbox.onTerminal(words, { when, answer: 'cti', columns: 200 });
    expect(done.output).toContain(
      '2 created, 0 rejected, 2 missing companies created, 1 missing stage created',
    );
    expect(done.code).toBe(0);
    const command = /The same without the screen: (?:crm|.*main\.ts) (.*)/.exec(done.output)?.[1];
    expect(command).toBe(
      'import deals deals.csv --map opportunity_id=name --custom --create-missing --create-stages',
    );
    expect(await count()).toBe(2);
  }, 300_000);

  test('nothing of a file is obeyed, neither its name nor a header or a value', async () => {
    const red = '\u001b[31m';
    const name = `red ${red}.csv`;
    await sandbox.write(name, `name,${red}\u001b]0;title\u0007,done\nx,1,${red}\u009b31mmaybe\n`);
    const run = await sandbox.onTerminal(['import', 'tasks', name], {
      ...{ when: 'q cancel', answer: 'i', env: { NO_COLOR: '1' } },
    });
    expect(run.code).toBe(3);
    expect(run.output).toContain('Import tasks from red ␛[31m.csv, 1 row\n');
    // The screen, the mapping, the reason and the next command show it.
    expect(run.output).toMatch(/1 of 1 row was rejected[\s\S]*--map-value 'done:␛\[31m/);
    for (const obeyed of [red, '\u001b]', '\u0007', '\u009b']) expect(run.output).not.toContain(obeyed);
  }, 300_000);

  test('flags about columns, --yes and a pipe skip it', async () => {
    const shown = '\u001b[?1049h';
    const dry = ['import', 'deals', 'deals.csv', '--dry-run'];
    const mapped = await sandbox.onTerminal([...dry, '--map', 'opportunity_id=name', '--custom']);
    const confirmed = await sandbox.onTerminal([...dry, '--yes']);
    const piped = await sandbox.crm(dry);
    expect([mapped.output, confirmed.output, piped.stderr].filter((text) => text.includes(shown))).toEqual(
      [],
    );
    expect([mapped.code, confirmed.code, piped.code]).toEqual([0, 2, 2]);
    expect(piped.stderr).not.toContain('\u001b');
  }, 300_000);
});
