// What stands in the database of a server that was killed, read past it.
import { runOnce } from '../service.ts';
import type { Found } from './ledger.ts';

// In the first twelve of its digits an id has the millisecond of its making.
const TIME_DIGITS = 12;

/** Asks a database something, on a connection that is closed then: SQLite recovers a file once nobody has it open. */
export async function ask(db: string, text: string): Promise<Record<string, string>[]> {
  const sql = new Bun.SQL(db.includes('://') ? db : `sqlite://${db}`);
  try {
    return await sql.unsafe(text);
  } finally {
    await sql.close();
  }
}

/** All contacts and pipelines that were made since. */
export async function findSince(db: string, instant: number): Promise<Found[]> {
  const digits = instant.toString(16).padStart(TIME_DIGITS, '0');
  const since = `${digits.slice(0, 8)}-${digits.slice(8)}`;
  const isFile = !db.includes('://');
  const names = isFile ? 'group_concat(name)' : `string_agg(name, ',')`;
  const rows = await ask(
    db,
    `select id, first_name as label, title as state from contacts where id >= '${since}' and first_name like 'contacts %'
     union all
     select p.id, p.name, (select ${names} from (
       select name from pipeline_stages s where s.org_id = p.org_id and s.pipeline_id = p.id order by position) as ordered)
     from pipelines p where p.id >= '${since}' and p.name like 'pipelines %'`,
  );
  return rows as unknown as Found[];
}

/** What SQLite finds wrong with a file; nothing of a server of PostgreSQL. */
export async function faultsOf(db: string): Promise<string[]> {
  if (db.includes('://')) return [];
  const rows = [...(await ask(db, 'pragma integrity_check')), ...(await ask(db, 'pragma foreign_key_check'))];
  return rows.map((row) => JSON.stringify(row)).filter((text) => text !== '{"integrity_check":"ok"}');
}

/** What a server that runs counts wrongly of what its one organization with a quota holds. */
export async function miscountsOf(db: string, url: string): Promise<string[]> {
  const findings = JSON.parse(await runOnce(['doctor', '--db', db, '--url', url, '-o', 'json']));
  const quotas = findings.filter(({ check }: { check: string }) => check === 'quota');
  if (quotas.length === 1 && quotas[0].status === 'ok') return [];
  return [`quota: ${JSON.stringify(quotas)}`];
}
