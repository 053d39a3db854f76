// README's table of metrics says what the server declares, word for word.
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { FAMILIES, type Family } from '../../server/metrics/families.ts';
import { PROCESS_METRICS } from '../../server/metrics/metrics-port.ts';

const readme = await Bun.file(join(import.meta.dir, '../../README.md')).text();
const section = readme.slice(readme.indexOf('\n## Metrics\n')).split(/\n## (?!Metrics)/)[0] ?? '';

test('the table has every family with its type, its labels and what it tells', () => {
  const rows = [...section.matchAll(/^\| `(crm_\w+)` \| (\w+) \| (.*?) ?\| (.*) \|$/gm)].map((row) =>
    row.slice(1),
  );
  const declared = Object.entries<Family>(FAMILIES).map(([name, { type, labels, help }]) => [
    ...[name, type],
    labels.map((label) => `\`${label}\``).join(' '),
    help,
  ]);
  expect(rows).toEqual(declared);
});

test('what is told of the process is named below it', () => {
  const named = [...section.matchAll(/`(process_\w+)`/g)].map(([, name]) => name ?? '');
  expect(named.toSorted()).toEqual(PROCESS_METRICS.toSorted());
});
