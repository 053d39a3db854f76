// The manual's page about metrics says what the server declares, word for word.
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { FAMILIES, type Family } from '../../server/metrics/families.ts';
import { PROCESS_METRICS } from '../../server/metrics/metrics-port.ts';
import { alertRules } from '../support/expressions.ts';

const readPage = (topic: string) => Bun.file(join(import.meta.dir, `../../cli/manual/${topic}.md`)).text();
const page = await readPage('metrics');

test('the page lists every family with its type, its labels and its help text', () => {
  const listed = [...page.matchAll(/^- `(crm_\w+)` \((\w+)(?:: (.*?))?\): (.*)$/gm)].map(
    (item): (string | undefined)[] => item.slice(1),
  );
  const declared = Object.entries<Family>(FAMILIES).map(([name, { type, labels, help }]) => [
    ...[name, type],
    labels.length === 0 ? undefined : labels.map((label) => `\`${label}\``).join(' '),
    help,
  ]);
  expect(listed).toEqual(declared);
});

test('the page names the metrics of the process', () => {
  const named = [...page.matchAll(/`(process_\w+)`/g)].map(([, name]) => name ?? '');
  expect(named.toSorted()).toEqual(PROCESS_METRICS.toSorted());
});

test('the pages say how many alerts there are', async () => {
  const count = alertRules().length;
  expect(page).toContain(`There are ${count} alerts.`);
  expect(await readPage('reliability')).toContain(`${count} of ${count} as they must`);
});
