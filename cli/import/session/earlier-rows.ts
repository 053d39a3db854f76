// What the rows of earlier batches of a dry run would have taken, which the server does not know.
import { type Data, isObject } from '../../../db/model/json.ts';
import type { Resource } from '../../../db/model/resource.ts';
import { contacts } from '../../../db/model/resources/contacts.ts';
import { uniqueValues } from '../../../db/model/rules.ts';
import type { Matching } from '../plan/matching.ts';
import type { RowOutcome } from '../row.ts';
import { KeyStore } from '../rows/key-store.ts';
import { type Identity, identitiesOf, orderingKeys, repeatKeys } from '../rows/unique-keys.ts';

const EXTERNAL_ID = 'external ID';

/** Remembers the line of the row that would have each value. */
export class EarlierRows {
  readonly #lines = new KeyStore();
  readonly #resource: Resource;
  readonly #matching: Matching | null;

  constructor(resource: Resource, matching: Matching | null) {
    this.#resource = resource;
    this.#matching = matching;
  }

  close(): void {
    this.#lines.close();
  }

  /** Whether the record of a row would be that of an earlier one, at least in part. */
  isKnown(body: Data): boolean {
    return orderingKeys(this.#resource, body).some((key) => this.#lines.get(key) !== undefined);
  }

  /** Remembers a row that would be created, or would change a record. */
  take(body: Data, record: Data | undefined, line: number): void {
    const keys = identitiesOf(this.#resource, body).map(({ key }) => key);
    // A row that changes the record of an earlier one belongs to that one.
    const [owner = String(line)] = keys.flatMap((key) => this.#lines.get(key) ?? []);
    this.#lines.addAll([...keys, ...this.#repeats(body, record)].map((key) => [key, owner]));
    if (keys.length === 0) return;
    const [known, values] = [this.#valuesOf(owner), valuesIn(body)];
    const merged = this.#matching?.onMatch === 'fill' ? { ...values, ...known } : { ...known, ...values };
    this.#lines.set(`values ${owner}`, JSON.stringify(merged));
  }

  /** Whether an interaction repeats one of an earlier row. */
  isRepeated(body: Data, record: Data | undefined): boolean {
    return this.#repeats(body, record).some((key) => this.#lines.get(key) !== undefined);
  }

  /** What becomes of a row whose record is that of an earlier one; undefined if it is not. */
  outcomeOf(body: Data): RowOutcome | undefined {
    const taken = identitiesOf(this.#resource, body).flatMap((identity) => {
      const line = this.#lines.get(identity.key);
      return line === undefined ? [] : [{ ...identity, line }];
    });
    const [first] = taken;
    if (first === undefined) return undefined;
    const { on = null, onMatch } = this.#matching ?? {};
    const match = taken.find(({ name, path }) => path === name && (on?.includes(name) ?? true));
    // A contact is also changed by a row that only has one of its emails as an alternative.
    const found = match ?? (onMatch === 'update' && body.external_id === undefined ? first : undefined);
    if (found === undefined && onMatch === 'keep') return { status: 'skipped' };
    const conflict = onMatch === 'keep' ? undefined : taken.find(({ line }) => line !== found?.line);
    if (onMatch === undefined || found === undefined || conflict !== undefined)
      return rejected(conflict ?? first);
    const [known, values] = [this.#valuesOf(found.line), valuesIn(body)];
    const isOther = (name: string): boolean =>
      onMatch === 'update' ? !Bun.deepEquals(known[name], values[name]) : known[name] === undefined;
    const id = Object.keys(values).find((name) => name.startsWith(EXTERNAL_ID));
    if (id !== undefined && known[id] !== undefined && known[id] !== values[id]) {
      const message = 'its record has another external ID of this source';
      return rejected({ path: 'external_id', message, line: found.line });
    }
    if (onMatch === 'keep') return { status: id !== undefined && isOther(id) ? 'updated' : 'skipped' };
    return { status: Object.keys(values).some(isOther) ? 'updated' : 'unchanged' };
  }

  #valuesOf(line: string): Data {
    return JSON.parse(this.#lines.get(`values ${line}`) ?? '{}') as Data;
  }

  #repeats(body: Data, record: Data | undefined): string[] {
    return contactsOf(body, record).flatMap((contact) => repeatKeys(this.#resource, body, contact));
  }
}

function rejected({
  path,
  message,
  line,
}: Pick<Identity, 'path' | 'message'> & { line: string }): RowOutcome {
  const rejection = { code: 'RESOURCE_CONFLICT', path, message: `${message}: line ${line}` };
  return { status: 'rejected', rejection };
}

/** The values of a body, by field; each custom field and external ID is one. */
function valuesIn({ match: _, on_match: __, custom, external_id: id, ...fields }: Data): Data {
  const own = isObject(custom) ? Object.entries(custom).map(([key, value]) => [`custom.${key}`, value]) : [];
  return {
    ...fields,
    ...Object.fromEntries(own),
    ...(isObject(id) && { [`${EXTERNAL_ID} ${id.source}`]: id.id ?? null }),
  };
}

/** What identifies the contact of an interaction: its ID, which holds only if it exists, and its email. */
function contactsOf(body: Data, record: Data | undefined): (string | null)[] {
  const emails = uniqueValues(contacts, { email: body.main_contact_email ?? null });
  const id = record?.main_contact;
  return [typeof id === 'string' ? id : null, ...emails.map(({ key }) => key)];
}
