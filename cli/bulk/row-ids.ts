// Short IDs in the rows of `update`, `delete` and `get --from`: found for a batch at a time.
import type { Field } from '../../db/model/fields.ts';
import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { findResource } from '../../db/model/resources/registry.ts';
import { singularOf } from '../../db/model/text.ts';
import { updateFields } from '../api/body.ts';
import type { Client } from '../api/client.ts';
import { idsMeant } from '../api/find-ids.ts';
import type { Rejection } from '../import/row.ts';
import { isOurId } from '../input/record-id.ts';
import { idRangeOf } from '../input/short-id.ts';

/** A value of a row that is a short ID, or the beginning of an ID. */
interface ShortId {
  field: string;
  /** Whose ID it is. */
  resource: string;
  text: string;
}

/** Whether a text can mean an ID. */
export function canMeanId(text: string): boolean {
  return isOurId(text) || idRangeOf(text) !== undefined;
}

/** The whole IDs for those in rows. */
export class RowIds {
  readonly #client: Client;
  readonly #resource: Resource;
  readonly #fields: Readonly<Record<string, Field>>;
  readonly #signal: AbortSignal;
  #meant = new Map<string, ReadonlyMap<string, readonly string[]>>();

  constructor(client: Client, resource: Resource, signal: AbortSignal) {
    this.#client = client;
    this.#resource = resource;
    this.#fields = updateFields(resource);
    this.#signal = signal;
  }

  /** Looks up at once what these rows have; without short IDs, it takes no request. */
  async learn(rows: readonly Data[]): Promise<void> {
    this.#meant = new Map();
    const all = Map.groupBy(
      rows.flatMap((row) => this.#shortIn(row)),
      ({ resource }) => resource,
    );
    for (const [resource, some] of all) {
      const texts = [...new Set(some.map(({ text }) => text))];
      this.#meant.set(resource, await idsMeant(this.#client, resource, texts, this.#signal));
    }
  }

  /** The row with whole IDs, or why it has none. */
  whole(row: Data): { row: Data } | { rejection: Rejection } {
    const whole = { ...row };
    for (const { field, resource, text } of this.#shortIn(row)) {
      const [id, ...others] = this.#meant.get(resource)?.get(text) ?? [];
      if (id === undefined) {
        const message = `no ${singularOf(resource)} has the ID "${text}"`;
        return { rejection: { code: 'RESOURCE_NOT_FOUND', path: field, message } };
      }
      if (others.length > 0) {
        const message = `the IDs of several ${resource} begin with "${text}"`;
        return { rejection: { code: 'VALIDATION_FAILED', path: field, message } };
      }
      whole[field] = id;
    }
    return { row: whole };
  }

  #shortIn(row: Data): ShortId[] {
    return Object.entries(row).flatMap(([field, value]) => {
      const resource = this.#ownerOf(field);
      const isShort = typeof value === 'string' && !isOurId(value) && idRangeOf(value) !== undefined;
      return resource !== undefined && isShort ? [{ field, resource, text: value }] : [];
    });
  }

  // Users and stages have no short IDs.
  #ownerOf(field: string): string | undefined {
    if (field === 'id') return this.#resource.name;
    const { kind, references = '' } = this.#fields[field] ?? {};
    return kind === 'reference' ? findResource(references)?.name : undefined;
  }
}
