// The names in a file that do not exist are told before a row is sent, with what creates them.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { Client } from '../../cli/api/client.ts';
import { readImportFlags } from '../../cli/import/flags.ts';
import { makePlan } from '../../cli/import/plan/plan.ts';
import { surveyInput } from '../../cli/import/plan/survey.ts';
import { missingMessage } from '../../cli/import/session/missing-in-words.ts';
import { NameCheck } from '../../cli/import/session/missing-names.ts';
import { getResource } from '../../db/model/resources/registry.ts';
import { type ImportService, startImportService } from '../fixtures/import/service.ts';
import { clientOf } from '../support/v2.ts';

let service: ImportService;
beforeAll(async () => {
  service = await startImportService();
  const api = clientOf(service.harness);
  await api.create('companies', { name: 'Acme', domain: 'acme.example' });
  await api.create('pipelines', { name: 'Partners', stages: [{ name: 'Signed' }] });
});
afterAll(() => service.close());
beforeEach(() => {
  service.between = null;
});

/** What is told about a file. */
async function told(
  rows: readonly string[],
  given: Record<string, unknown> = {},
  key = service.harness.v2,
): Promise<string[]> {
  const input = await service.write('names.csv', rows.join('\n'));
  const request = { ...readImportFlags(given), resource: 'deals', input };
  const { survey } = await surveyInput(input, request);
  const plan = makePlan(getResource('deals'), survey, request);
  const check = new NameCheck(new Client({ url: service.url, apiKey: key }));
  return (await check.missingNames(plan, survey)).map(missingMessage);
}

test('names are counted in rows, whatever their case, and those that exist are not told', async () => {
  const rows = [
    'Deal Name,Stage,Company',
    'Loom,Engaging,ACME',
    'Loom,engaging ,www.acme.example',
    'Loom,Won,acme.test',
    'Loom,proposal,',
    'Loom,,Acme Ltd',
  ];
  expect(await told(rows)).toEqual([
    '1 stage does not exist in the pipeline "Sales": "Engaging" (2 rows). Rows with it are rejected; --create-stages creates it.',
    '2 companies do not exist: "acme.test" (1 row), "Acme Ltd" (1 row). Rows with them are rejected; --create-missing creates them.',
  ]);
});

test('a stage is missing if none of the pipelines that rows name has it', async () => {
  const rows = [
    'Deal Name,Pipeline,Stage',
    'Loom,Partners,Signed',
    'Loom,partners,Lunch',
    'Loom,Nowhere,Proposal',
  ];
  expect(await told(rows)).toEqual([
    '1 pipeline does not exist: "Nowhere" (1 row). Rows with it are rejected; --map-value replaces a value.',
    '1 stage does not exist: "Lunch" (1 row). Rows with it are rejected; --create-stages creates it.',
  ]);
});

test('values count as --map-value and --set leave them', async () => {
  const rows = ['Deal Name,Stage', 'Loom,Engaging', 'Loom,Lunch'];
  expect(await told(rows, { mapValue: ['Stage:Engaging=Proposal'], set: ['company=Nobody'] })).toEqual([
    '1 stage does not exist in the pipeline "Sales": "Lunch" (1 row). Rows with it are rejected; --create-stages creates it.',
    '1 company does not exist: "Nobody" (every row). Rows with it are rejected; --create-missing creates it.',
  ]);
});

test('of several columns for one field, only the first counts', async () => {
  const rows = ['Deal Name,Company Name,Company Domain', 'Loom,Acme Limited,acme.example'];
  expect(await told(rows, { custom: true })).toEqual([]);
});

test('a file with very many names costs few requests, and is told about in part', async () => {
  let requests = 0;
  service.between = (_, answer) => {
    requests += 1;
    return answer();
  };
  const names = Array.from({ length: 1_200 }, (_, at) => `Loom,Firm ${at}`);
  const [message] = await told(['Deal Name,Company', ...names]);
  expect(message).toStartWith('1,000 or more companies do not exist: "Firm 0" (1 row), ');
  expect(message).toContain('"Firm 4" (1 row), and 995 or more. Rows with them');
  expect(requests).toBe(10);
});

test('a key that cannot read companies is told nothing about them', async () => {
  const { key } = await service.harness.issue({ scopes: ['deals:write', 'pipelines:read'] });
  expect(await told(['Deal Name,Company,Stage', 'Loom,Nobody,Proposal'], {}, key)).toEqual([]);
});

test('a command says so before it sends a row; not when it creates them, nor when it is run again', async () => {
  await service.write('deals.csv', 'Deal Name,Stage\nLoom,Proposal\nLoom,Engaging\n');
  const message = 'crm: 1 stage does not exist in the pipeline "Sales": "Engaging" (1 row).';
  const words = ['import', 'deals', 'deals.csv'];
  const dry = await service.crm([...words, '--create-stages', '--dry-run']);
  const first = await service.crm(words);
  const again = await service.crm(words);
  expect([dry, first, again].map(({ stderr }) => stderr.includes(message))).toEqual([false, true, false]);
  expect(first.stderr.indexOf(message)).toBeLessThan(first.stderr.indexOf('Importing deals: '));
  expect([dry, first, again].map(({ exitCode }) => exitCode)).toEqual([0, 3, 3]);
});
