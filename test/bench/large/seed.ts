// A process of its own that fills the database of CRM_DB, `bun seed.ts SCALE [KIND…]`, and prints what questions are made of.
import { fillDatabase } from './fill.ts';

const [scale = '1', ...kinds] = process.argv.slice(2);
console.log(JSON.stringify(await fillDatabase(process.env.CRM_DB ?? '', Number(scale), kinds)));
