// The records that a whole query identifies: how they are looked up, and which of them has which ID of another system.

import type { ExternalId } from '../../db/model/external-ids.ts';
import {
  type IdentifierHit,
  type Identifiers,
  identifierHitIn,
  identifiersIn,
} from '../../db/model/identifiers.ts';
import type { Resource, Row } from '../../db/model/resource.ts';
import { companies } from '../../db/model/resources/companies.ts';
import { contacts } from '../../db/model/resources/contacts.ts';
import type { SearchQuery } from '../../db/model/search-query.ts';
import { findContactsByEmail } from '../../db/tables/contact-emails.ts';
import {
  FOREIGN_ID_COLUMNS,
  findByForeignId,
  findExternalIdHolders,
} from '../../db/tables/search-records.ts';
import { findUnique } from '../../db/tables/unique.ts';
import type { Reader } from '../records/rules.ts';

/** Which records a query identifies. */
export class IdentifierMatch {
  /** What the query can be. */
  readonly identifiers: Identifiers;
  /** Those of the IDs in other systems that the query can be, by resource and ID of the record. */
  readonly #external: ReadonlyMap<string, readonly ExternalId[]>;

  private constructor(identifiers: Identifiers, external: ReadonlyMap<string, readonly ExternalId[]>) {
    this.identifiers = identifiers;
    this.#external = external;
  }

  static async of({ db, access: { orgNumber } }: Reader, query: SearchQuery): Promise<IdentifierMatch> {
    const identifiers = identifiersIn(query);
    const { foreignId, externalId } = identifiers;
    const ids = [foreignId, ...(externalId === null ? [] : [externalId.id])];
    const held = await findExternalIdHolders(db, orgNumber, ids);
    const byRecord = Map.groupBy(held, ({ resource, record_id }) => nameOf(resource, record_id));
    const externalIds = [...byRecord].map(
      ([name, some]) => [name, some.map((one) => ({ source: one.source, id: one.external_id }))] as const,
    );
    return new IdentifierMatch(identifiers, new Map(externalIds));
  }

  /** Where the query identifies a stored record; null if it does not. */
  hitIn(resource: Resource, row: Row): IdentifierHit | null {
    const external = this.#external.get(nameOf(resource.name, String(row.id)));
    return identifierHitIn(this.identifiers, resource, row, external);
  }

  /**
   * The IDs of all records of a resource that the query identifies, except by a telephone number.
   * @param range the greatest ID that is wanted, and how many of those that can be many
   */
  async ids(
    { db, access: { orgNumber } }: Reader,
    resource: Resource,
    { last, limit }: { last: string; limit: number },
  ): Promise<string[]> {
    const { email, domain, foreignId, recordId } = this.identifiers;
    const start = nameOf(resource.name, '');
    const held = [...this.#external.keys()].filter((name) => name.startsWith(start));
    const given = held.map((name) => name.slice(start.length));
    if (recordId !== null) given.push(recordId);
    const columns = FOREIGN_ID_COLUMNS.filter(({ name }) => resource.fields[name] !== undefined);
    const wanted = { orgNumber, value: foreignId, last, limit };
    const [byEmail, byDomain, ...byForeignId] = await Promise.all([
      resource === contacts && email !== null ? findContactsByEmail(db, orgNumber, [email]) : null,
      resource === companies && domain !== null
        ? findUnique(db, resource, orgNumber, { filter: 'domain', value: domain })
        : undefined,
      ...columns.map((column) => findByForeignId(db, resource, column, wanted)),
    ]);
    const ids = [...given, ...(byEmail?.values() ?? []), ...(byDomain === undefined ? [] : [byDomain])];
    ids.push(...byForeignId.flat());
    return [...new Set(ids)].filter((id) => id <= last);
  }
}

function nameOf(resource: string, id: string): string {
  return `${resource}/${id}`;
}
