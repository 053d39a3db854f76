// Who is involved in interactions: links contacts and companies, updates their last interaction, and lists them.

import { type RawBuilder, sql } from 'kysely';
import { memoize } from '../cache.ts';
import { bulkInsert } from '../engine/bulk-insert.ts';
import { type ColumnMap, type Db, linkTable, type Trx, tableOf } from '../engine/schema.ts';
import { lookup, type Param, type Statement, statement } from '../engine/statement.ts';
import { TimeSlices } from '../event-loop.ts';
import type { Resource, SideTable } from '../model/resource.ts';
import { companies } from '../model/resources/companies.ts';
import { contacts } from '../model/resources/contacts.ts';
import { involvedCompanies, involvedContacts } from '../model/resources/interactions.ts';

/** An interaction: when it happened, and when it is written; Unix milliseconds. */
interface Moment {
  orgNumber: number;
  interaction: string;
  date: number;
  now: number;
}

/** Links contacts to an interaction, and updates their last interaction; repeats are ignored. */
export const involveContacts = involving(involvedContacts, contacts);
/** The same for companies. */
export const involveCompanies = involving(involvedCompanies, companies);

// Makes a function that links records to an interaction, and updates their last interaction.
function involving({ table, parentColumn, childColumn }: SideTable, resource: Resource) {
  const insert = bulkInsert(table, ['org_id', parentColumn, childColumn]);
  const moveOne = move(resource, (_, param) => sql`id = ${param('id')}`);
  const moveAll = move(resource, (db, param) => db.engine.isAmong(sql.ref('id'), param('ids')));
  return async (trx: Trx, given: readonly string[], { orgNumber, interaction, date, now }: Moment) => {
    const ids = [...new Set(given)];
    const [id] = ids;
    if (id === undefined) return;
    const rows = ids.map((child) => ({
      org_id: orgNumber,
      [parentColumn]: interaction,
      [childColumn]: child,
    }));
    await insert(trx, rows);
    const args = { org: orgNumber, date, now };
    if (ids.length === 1) {
      await moveOne(trx, { ...args, id });
      return;
    }
    await moveAll(trx, { ...args, ids: JSON.stringify(ids) });
    const turns = turnsOf(trx);
    if (turns.isOver) await turns.next();
  };
}

// A batch can link 20,000 records. By connection: after an earlier transaction, the first pause comes sooner.
const turnsOf = memoize((_: Trx) => new TimeSlices());

const companyOf = (db: Db, param: Param) =>
  db
    .selectFrom(tableOf(contacts))
    .where('org_id', '=', param('org'))
    .where('id', '=', param('contact'))
    .where('company_id', 'is not', null);

// Links the company of a contact to an interaction, without reading anything first.
const INVOLVING_COMPANY_OF = [
  statement<never>((db, param) => {
    const interaction = sql<string>`cast(${param('interaction')} as text)`;
    const employer = companyOf(db, param).select(['org_id', interaction.as('interaction'), 'company_id']);
    const tie = db
      .insertInto(linkTable(involvedCompanies.table))
      .columns(['org_id', 'interaction_id', 'company_id'] as never);
    // It can be among the given companies.
    return tie.expression(employer).onConflict((conflict) => conflict.doNothing());
  }),
  move(companies, (db, param) => sql`id = ${companyOf(db, param).select('company_id')}`),
];

/** Links the company of a contact, unless it is linked, and updates its last interaction. */
export async function involveCompanyOf(
  trx: Trx,
  contact: string,
  { orgNumber, ...moment }: Moment,
): Promise<void> {
  for (const write of INVOLVING_COMPANY_OF) await write(trx, { org: orgNumber, contact, ...moment });
}

// Only forward: logging an older interaction changes nothing.
function move(resource: Resource, isMoved: (db: Db, param: Param) => RawBuilder<unknown>): Statement<never> {
  return statement<never>((db, param) => {
    const columns = { last_interaction_at: param('date'), updated_at: param('now') } as ColumnMap;
    const last = 'last_interaction_at';
    return db
      .updateTable(tableOf(resource))
      .set(columns)
      .where('org_id', '=', param('org'))
      .where(isMoved(db, param) as RawBuilder<boolean>)
      .where((eb) => eb.or([eb(last, 'is', null), eb(last, '<', param('date'))]));
  });
}

/** The IDs of the contacts and companies involved in each interaction, in order. */
export async function listInvolved(
  db: Db,
  orgNumber: number,
  interactionIds: readonly string[],
): Promise<{ contactIds: Map<string, string[]>; companyIds: Map<string, string[]> }> {
  const [contactIds, companyIds] = await Promise.all([
    listSide(db, involvedContacts, orgNumber, interactionIds),
    listSide(db, involvedCompanies, orgNumber, interactionIds),
  ]);
  return { contactIds, companyIds };
}

const tiedTo = memoize(({ table, parentColumn, childColumn }: SideTable) =>
  lookup<{ parent: string; child: string }>((db, param, isGiven) =>
    db
      .selectFrom(linkTable(table))
      .select([`${parentColumn} as parent`, `${childColumn} as child`])
      .$castTo<{ parent: string; child: string }>()
      .where('org_id', '=', param('org'))
      .where(isGiven(sql.ref(parentColumn)))
      .orderBy(parentColumn)
      .orderBy(childColumn),
  ),
);

async function listSide(
  db: Db,
  side: SideTable,
  orgNumber: number,
  interactionIds: readonly string[],
): Promise<Map<string, string[]>> {
  const rows = await tiedTo(side)(db, orgNumber, interactionIds);
  const byInteraction = Map.groupBy(rows, ({ parent }) => parent);
  return new Map([...byInteraction].map(([id, of]) => [id, of.map(({ child }) => child)]));
}
