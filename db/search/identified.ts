// Finds the records that a query identifies as a whole, in all ways by one statement: to send several takes longer than to look.

import { type RawBuilder, sql } from 'kysely';
import { type Db, tableOf } from '../engine/schema.ts';
import { statement, written } from '../engine/statement.ts';
import type { ExternalId } from '../model/external-ids.ts';
import { getResource } from '../model/resources/registry.ts';
import { SEARCHED_RESOURCES } from '../model/searched.ts';
import { caselessKey, textKey } from '../model/text.ts';
import { keyExpression } from '../tables/columns.ts';

/** A record that a query identifies. */
export interface IdentifiedRecord {
  /** The name of its resource. */
  resource: string;
  id: string;
  /** Of a record that is found by its ID in another system: that ID. */
  external: ExternalId | null;
}

/** What identifies records; null for what is not looked for. */
export interface WantedIdentifiers {
  /** IDs in other systems, whatever the source. */
  externalIds: readonly string[];
  email: string | null;
  domain: string | null;
  /** What a column with an ID of another system contains. */
  foreignId: string;
  /** The greatest ID that is wanted of such records, and how many of each resource. */
  last: string;
  limit: number;
}

// Columns that contain an ID of another system, which several records can share.
const FOREIGN_ID_COLUMNS = ['external_id', 'primary_id'];

const FOREIGN_IDS = SEARCHED_RESOURCES.map(getResource).flatMap((resource) =>
  FOREIGN_ID_COLUMNS.flatMap((column) => (column in resource.fields ? [{ resource, column }] : [])),
);

interface Found {
  resource: string;
  id: string;
  source: string | null;
  external_id: string | null;
}

const identified = statement<Found>((db, param) => {
  // What a query is not is null: plans for that are cheaper, and to make one takes ten times as long as to look.
  const text = (name: string) => db.engine.opaque(sql<string>`${param(name)}`, 'text');
  const limit = db.engine.opaque(sql<number>`${param('limit')}`, 'integer');
  const ofOrganization = sql`org_id = ${param('org')}`;
  const idIn = (resource: string, ids: RawBuilder<unknown>) =>
    sql`select ${sql.lit(resource)} as resource, id, null as source, null as external_id from (${ids}) as newest`;
  const byForeignId = FOREIGN_IDS.map(({ resource, column }) => {
    // Before they are put in order: a planner that does not know the column would go through all records in that order.
    const held = sql`select id from ${sql.table(tableOf(resource))}
      where ${ofOrganization} and ${keyExpression(column)} = ${text('foreignId')}`;
    const newest = sql`with few as materialized (${held})
      select id from few where id <= ${text('last')} order by id desc limit ${limit}`;
    return idIn(resource.name, newest);
  });
  const ways = [
    sql`select resource, record_id as id, source, external_id from external_ids
      where ${ofOrganization} and ${db.engine.isAmong(sql.ref('external_id'), param('externalIds'))}`,
    idIn(
      'contacts',
      sql`select contact_id as id from contact_emails where ${ofOrganization} and email_key = ${text('email')}`,
    ),
    idIn(
      'companies',
      sql`select id from companies where ${ofOrganization} and ${keyExpression('domain')} = ${text('domain')}`,
    ),
    ...byForeignId,
  ];
  return written(db, sql<Found>`${sql.join(ways, sql` union all `)}`);
});

/** The records that have one of these identifiers. */
export async function findIdentified(
  db: Db,
  orgNumber: number,
  { externalIds, email, domain, foreignId, last, limit }: WantedIdentifiers,
): Promise<IdentifiedRecord[]> {
  const found = await identified(db, {
    ...{ org: orgNumber, externalIds: JSON.stringify(externalIds), last, limit },
    email: email && caselessKey(email),
    domain: domain && textKey(domain),
    foreignId: textKey(foreignId),
  });
  return found.map(({ resource, id, source, external_id }) => ({
    ...{ resource, id },
    external: source === null || external_id === null ? null : { source, id: external_id },
  }));
}
