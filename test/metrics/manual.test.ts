// The manual's page about metrics says what the server declares, word for word.
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { FAMILIES, type Family } from '../../server/metrics/families.ts';
import { PROCESS_METRICS } from '../../server/metrics/metrics-port.ts';

const page = await Bun.file(join(import.meta.dir, '../../cli/manual/metrics.md')).text();

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

test('the page says how many alerts there are', async () => {
  const alerts = await Bun.file(join(import.meta.dir, '../../cli/recipes/crm-alerts.yml')).text();
  expect(page).toContain(`There are ${alerts.match(/- alert:/g)?.length} alerts.`);
});
