// The records that a whole query identifies: how they are looked up, and which of them has which ID of another system.

import { type IdentifierHit, type Identifiers, identifierHitIn } from '../../db/model/identifiers.ts';
import type { Resource, Row } from '../../db/model/resource.ts';
import { findIdentified, type IdentifiedRecord } from '../../db/search/identified.ts';
import type { Reader } from '../records/rules.ts';

/** Which records a query identifies. */
export class IdentifierMatch {
  /** What the query can be. */
  readonly identifiers: Identifiers;
  /** All but those that it identifies by a telephone number or their own ID. */
  readonly #found: readonly IdentifiedRecord[];
  readonly #byRecord: ReadonlyMap<string, readonly IdentifiedRecord[]>;

  private constructor(identifiers: Identifiers, found: readonly IdentifiedRecord[]) {
    this.identifiers = identifiers;
    this.#found = found;
    this.#byRecord = Map.groupBy(found, ({ resource, id }) => nameOf(resource, id));
  }

  /** @param range the greatest ID that is wanted of those that can be many, and how many of each resource */
  static async of(
    { db, access: { orgNumber } }: Reader,
    identifiers: Identifiers,
    range: { last: string; limit: number },
  ): Promise<IdentifierMatch> {
    const { foreignId, externalId } = identifiers;
    const externalIds = [foreignId, ...(externalId === null ? [] : [externalId.id])];
    return new IdentifierMatch(
      identifiers,
      await findIdentified(db, orgNumber, { ...identifiers, ...range, externalIds }),
    );
  }

  /** Where the query identifies a stored record; null if it does not. */
  hitIn(resource: Resource, row: Row): IdentifierHit | null {
    const held = this.#byRecord.get(nameOf(resource.name, String(row.id))) ?? [];
    const externalIds = held.flatMap(({ external }) => external ?? []);
    return identifierHitIn(this.identifiers, resource, row, externalIds);
  }

  /** The IDs of the records of a resource, up to the last one, that the query identifies, except by a telephone number. */
  ids({ name }: Resource, last: string): string[] {
    const { recordId } = this.identifiers;
    const ids = this.#found.flatMap(({ resource, id }) => (resource === name ? id : []));
    if (recordId !== null) ids.push(recordId);
    return [...new Set(ids)].filter((id) => id <= last);
  }
}

function nameOf(resource: string, id: string): string {
  return `${resource}/${id}`;
}
