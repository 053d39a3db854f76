import { startHarness } from './test/support/harness.ts';
import { actingAs } from './db/engine/acting.ts';
import { OPERATOR } from './db/engine/author.ts';
import { takeInstant } from './db/engine/write-instant.ts';
import { insertReservedRecords } from './db/tables/records.ts';
import { recordId } from './db/tables/record-id.ts';
import { contacts } from './db/model/resources/contacts.ts';
import { indexPending } from './db/tables/search-pending.ts';
import { sql } from 'kysely';
const N = Number(process.argv[2] ?? 100000);
const FIRST = Array.from({length: 2000}, (_, i) => 'fn' + (i*7919 % 2000).toString(36) + 'a');
const LAST = Array.from({length: 20000}, (_, i) => 'ln' + (i).toString(36) + 'son');
const TITLES = ['Head of Engines','Sales Manager','Chief Technology Officer','Software Engineer','Accountant','Vice President Marketing','Product Owner','Office Manager'];
const CITIES = ['London','Paris','Berlin','New York','Zurich'];
let seed = 42; const rnd = (n: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
const zipf = (n: number) => Math.floor(n ** (rnd(1e6)/1e6)) - 1;
const h = await startHarness();
const { store, orgNumber } = h;
const noIndex = process.argv[3] === 'noindex';
let cpu = process.cpuUsage(); let t0 = performance.now();
for (let i = 0; i < N; i += 500) {
  await store.write(orgNumber, async (trx) => {
    const now = await takeInstant(trx, orgNumber, 1.7e12 + i * 100);
    const recs = Array.from({ length: 500 }, (_, k) => {
      const f = FIRST[zipf(2000)]!, l = LAST[zipf(20000)]!; const c = zipf(20000);
      return { id: recordId(now), data: { first_name: f, last_name: l, email: `${f}.${l}${i+k}@company${c}.example`, title: TITLES[rnd(8)]!, phone: `+44 20 ${1000+rnd(9000)} ${1000+rnd(9000)}`, custom: { city: CITIES[rnd(5)]! } } };
    });
    await insertReservedRecords(actingAs(trx, OPERATOR), contacts, { orgNumber, createdBy: 'x', now }, recs);
  });
}
const used = (c: NodeJS.CpuUsage) => { const d = process.cpuUsage(c); return (d.user + d.system) / N; };
console.log('insert: wall µs/doc', ((performance.now() - t0) * 1000 / N).toFixed(1), 'cpu', used(cpu).toFixed(1));
const size = async () => process.env.CRM_TEST_DB ? Number((await sql<{s:number}>`select sum(pg_total_relation_size('search_words'))::bigint as s`.execute(store.read)).rows[0]!.s) : Number((await sql<{s:number}>`select sum(pgsize) as s from dbstat where name='search_words'`.execute(store.read).catch(async()=>({rows:[{s:-1}]}))).rows[0]!.s);
if (!noIndex) {
cpu = process.cpuUsage(); t0 = performance.now(); let pieces = 0; let max = 0;
for (let more = true; more; ) { const t = performance.now(); more = await store.write(orgNumber, (trx) => indexPending(trx, orgNumber)); pieces++; max = Math.max(max, performance.now() - t); }
console.log('index: wall µs/doc', ((performance.now() - t0) * 1000 / N).toFixed(1), 'cpu', used(cpu).toFixed(1), 'pieces', pieces, 'max ms', max.toFixed(1));
const rows = (await sql<{n:number, b:number}>`select count(*) as n, sum(length(entries)+length(word)+10) as b from search_words where org_id=${orgNumber}`.execute(store.read)).rows[0]!;
console.log('rows/doc', (Number(rows.n)/N).toFixed(2), 'payload/doc', (Number(rows.b)/N).toFixed(0), 'bytes/doc', (await size())/N);
if (process.argv[3] === 'indexonly') process.exit(0);

const q = async (name: string, query: string, times = 200) => {
  const ts: number[] = []; let n = 0;
  for (let i = 0; i < times; i++) { const t = performance.now(); const r = await h.send('GET', `/api/v2/search?q=${encodeURIComponent(query)}`); ts.push(performance.now() - t); n = r.body.data?.length; if (r.status !== 200) { console.log(r.text); break; } }
  ts.sort((a, b) => a - b); console.log(name.padEnd(30), 'n', n, 'p50', ts[ts.length>>1]!.toFixed(2), 'p99', ts[Math.floor(ts.length*.99)]!.toFixed(2));
};
await q('warm', 'fn0a');
const one = (await h.send('GET', '/api/v2/contacts?limit=1')).body.data[0];
await q('identifier', one.email);
await q('name', one.last_name);
await q('two words', `${FIRST[0]} ${LAST[0]}`);
await q('first word rare, common', `${one.first_name} ${one.last_name}`);
await q('two common text', `engines london`);
await q('never meet', `engines accountant`);
await q('prefix common', `fn`);
await q('prefix 3', `ln1`);
await q('text common', `london`);
await q('phone', one.phone);
await q('bare http 404', 'zzzz');
}
await h.close();
