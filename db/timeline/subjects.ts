// What entries of timelines need to know about the records that they show on: companies of contacts and deals, stages of deals.

import { sql } from 'kysely';
import { linkTable, type Trx, tableOf } from '../engine/schema.ts';
import { type Lookup, lookup, statement } from '../engine/statement.ts';
import { contacts } from '../model/resources/contacts.ts';
import { deals } from '../model/resources/deals.ts';

interface Employed {
  id: string;
  company_id: string;
}

const companiesBy = (resource: { name: string }): Lookup<Employed> =>
  lookup((db, param, isGiven) =>
    db
      .selectFrom(tableOf(resource))
      .select(['id', 'company_id'] as never)
      .$castTo<Employed>()
      .where('org_id', '=', param('org'))
      .where(isGiven(sql.ref('id')))
      .where('company_id', 'is not', null),
  );

/** The companies of contacts, of those that have one. */
export const listEmployers = companiesBy(contacts);
/** The companies of deals, of those that have one. */
export const listDealCompanies = companiesBy(deals);

/** What a deal refers to. */
export interface DealEnds {
  id: string;
  company_id: string | null;
  point_of_contact_id: string | null;
}

/** What the deals with these IDs refer to, in no order. */
export const findDealEnds = lookup<DealEnds>((db, param, isGiven) =>
  db
    .selectFrom(tableOf(deals))
    .select(['id', 'company_id', 'point_of_contact_id'] as never)
    .$castTo<DealEnds>()
    .where('org_id', '=', param('org'))
    .where(isGiven(sql.ref('id'))),
);

/** The contacts that are linked to deals. */
export const listDealContacts = lookup<{ deal_id: string; contact_id: string }>((db, param, isGiven) =>
  db
    .selectFrom(linkTable('deal_contacts'))
    .select(['deal_id', 'contact_id'])
    .$castTo<{ deal_id: string; contact_id: string }>()
    .where('org_id', '=', param('org'))
    .where(isGiven(sql.ref('deal_id'))),
);

const isLinked = (table: string, column: string) =>
  statement<{ id: string }>((db, param) =>
    db
      .selectFrom(linkTable(table))
      .select(sql.ref<string>(column).as('id'))
      .where('org_id', '=', param('org'))
      .where('deal_id' as never, '=', param('deal'))
      .where(column as never, '=', param('child')),
  );

const DEAL_LINKS = {
  contacts: isLinked('deal_contacts', 'contact_id'),
  companies: isLinked('deal_companies', 'company_id'),
};

/** The IDs of those contacts and companies that are linked to a deal. */
export async function findDealLinks(
  trx: Trx,
  orgNumber: number,
  deal: string,
  ends: readonly { on: string; id: string }[],
): Promise<Set<string>> {
  const linked = new Set<string>();
  for (const { on, id: child } of ends) {
    if (on !== 'contacts' && on !== 'companies') continue;
    for (const { id } of await DEAL_LINKS[on](trx, { org: orgNumber, deal, child })) linked.add(id);
  }
  return linked;
}

const names = lookup<{ id: string; name: string }>((db, param, isGiven) =>
  db
    .selectFrom('pipeline_stages')
    .select(['id', 'name'])
    .where('org_id', '=', param('org'))
    .where(isGiven(sql.ref('id'))),
);

/** The names of stages by their IDs. */
export async function findStageNames(
  trx: Trx,
  orgNumber: number,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  return new Map((await names(trx, orgNumber, [...new Set(ids)])).map(({ id, name }) => [id, name]));
}
