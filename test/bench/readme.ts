// `bun test/bench/readme.ts FILE` puts the figures of a run, `bun run bench --json FILE`, into the manual's page.
import { join } from 'node:path';
import { withLargeTables } from './large/markdown.ts';
import type { LargeReport } from './large/report.ts';
import { withTables } from './markdown.ts';
import type { Report } from './report.ts';

const PAGE = join(import.meta.dir, '../../cli/manual/performance.md');

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('usage: bun test/bench/readme.ts FILE');
const report = (await Bun.file(file).json()) as Report | LargeReport;
const page = await Bun.file(PAGE).text();
await Bun.write(PAGE, 'engines' in report ? withLargeTables(page, report) : withTables(page, report));
