// `bun test/bench/readme.ts FILE` puts the figures of a run, `bun run bench --json FILE`, into README.
import { join } from 'node:path';
import { withTables } from './markdown.ts';
import type { Report } from './report.ts';

const README = join(import.meta.dir, '../../README.md');

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('usage: bun test/bench/readme.ts FILE');
const report = (await Bun.file(file).json()) as Report;
await Bun.write(README, withTables(await Bun.file(README).text(), report));
