// Links and unlinks many records at once: looked up together, checked one by one, and written together.
import { referenceFault } from '../../db/model/faults.ts';
import type { Data } from '../../db/model/json.ts';
import { childOf } from '../../db/model/links.ts';
import { toColumns } from '../../db/model/record-forms.ts';
import type { Row } from '../../db/model/resource.ts';
import type { LinkKind } from '../../db/model/resources/link-kinds.ts';
import { getResource } from '../../db/model/resources/registry.ts';
import {
  deleteLinks,
  findLinkEnds,
  findLinks,
  insertLinks,
  type LinkEnd,
  type LinkKey,
  updateLinks,
} from '../../db/tables/link-batches.ts';
import type { KindLinkRow } from '../../db/tables/link-lists.ts';
import { type References, referenceFaults } from '../../db/tables/references.ts';
import { canSee, hasScope } from '../access.ts';
import { ApiError, insufficientScope, notFound, validationError } from '../errors.ts';
import { showLink } from './link-lists.ts';
import type { ItemOutcome } from './outcomes.ts';
import type { Reader, Writer } from './rules.ts';

/** A link that a client names. */
export interface NamedLink {
  kind: LinkKind;
  parentId: string;
  childId: string;
  /** The link's own fields, as far as they are given. */
  own: Data;
}

/** Links records in order; own fields of an existing link are set as given. */
export function linkAll(writer: Writer, named: readonly NamedLink[]): Promise<ItemOutcome[]> {
  return carryOut(writer, named, link);
}

/** Removes links in order. */
export function unlinkAll(writer: Writer, named: readonly NamedLink[]): Promise<ItemOutcome[]> {
  return carryOut(writer, named, unlink);
}

async function carryOut(
  writer: Writer,
  named: readonly NamedLink[],
  each: (known: Known, named: NamedLink, now: number) => ItemOutcome,
): Promise<ItemOutcome[]> {
  const { access, now } = writer;
  const missing = ({ kind }: NamedLink) => !hasScope(access, writeScopeOf(kind));
  const known = await load(
    writer,
    named.filter((one) => !missing(one)),
  );
  const outcomes = named.map((one) =>
    missing(one) ? insufficientScope(writeScopeOf(one.kind)) : each(known, one, now),
  );
  await known.write(writer);
  return outcomes;
}

/** The scope that linking and unlinking needs. */
export function writeScopeOf({ parent }: LinkKind): string {
  return `${parent.name}:write`;
}

function link(known: Known, { kind, parentId, childId, own }: NamedLink, now: number): ItemOutcome {
  const parent = known.record(kind.parent.name, parentId);
  if (parent === undefined) return missingParent(kind);
  const { fields } = kind.link;
  const childName = childOf(kind.link, { link: own, parent }) ?? '';
  const faults = referenceFaults(fields, { input: own, current: null }, known.references);
  if (known.record(childName, childId) === undefined) faults.unshift(referenceFault('id', childName));
  if (faults.length > 0) return validationError(faults);
  const links = known.links(kind);
  const columns = toColumns(fields, own);
  const row = links.find({ parent_id: parentId, child_id: childId });
  if (row === undefined) {
    const added = { ...columns, parent_id: parentId, child_id: childId, linked_at: now };
    links.add(added);
    return { status: 'linked', data: showLink(kind, added) };
  }
  const isChanged = Object.keys(columns).some((name) => (row[name] ?? null) !== columns[name]);
  if (isChanged) links.change(row, columns);
  return { status: isChanged ? 'linked' : 'unchanged', data: showLink(kind, row) };
}

function unlink(known: Known, { kind, parentId, childId }: NamedLink): ItemOutcome {
  const parent = known.record(kind.parent.name, parentId);
  if (parent === undefined) return missingParent(kind);
  const links = known.links(kind);
  const row = links.find({ parent_id: parentId, child_id: childId });
  const childName = row && childOf(kind.link, { link: row, parent });
  if (row === undefined || known.record(childName ?? '', childId) === undefined) return missingLink(kind);
  links.remove(row);
  return { status: 'unlinked' };
}

function missingParent({ parent }: LinkKind): ApiError {
  const { message } = notFound(parent.singular);
  const detail = { ...referenceFault('parent_id', parent.name), code: 'RESOURCE_NOT_FOUND' } as const;
  return new ApiError('RESOURCE_NOT_FOUND', message, { details: [detail] });
}

function missingLink({ parent }: LinkKind): ApiError {
  const message = `This ${parent.singular} has no such link.`;
  const detail = {
    path: 'id',
    message: 'must be the ID of a linked record',
    code: 'RESOURCE_NOT_FOUND',
  } as const;
  return new ApiError('RESOURCE_NOT_FOUND', message, { details: [detail] });
}

/** By resource and ID. */
type Records = ReadonlyMap<string, ReadonlyMap<string, LinkEnd>>;

/** The records and links that a batch names, as far as the key can see them, with the changes so far. */
class Known {
  readonly #records: Records;
  readonly #links: ReadonlyMap<LinkKind, KnownLinks>;
  /** The IDs that reference fields can have. */
  readonly references: References;

  constructor(records: Records, links: ReadonlyMap<LinkKind, KnownLinks>) {
    this.#records = records;
    this.#links = links;
    this.references = new Map([...records].map(([name, byId]) => [name, new Set(byId.keys())]));
  }

  record(resource: string, id: string): LinkEnd | undefined {
    return this.#records.get(resource)?.get(id);
  }

  links(kind: LinkKind): KnownLinks {
    const links = this.#links.get(kind);
    if (links === undefined) throw new Error(`links of ${kind.name} were not looked up`);
    return links;
  }

  async write(writer: Writer): Promise<void> {
    for (const links of this.#links.values()) await links.write(writer);
  }
}

/** The links of one kind, and what a batch changes about them. */
class KnownLinks {
  readonly #kind: LinkKind;
  readonly #rows: Map<string, KindLinkRow>;
  readonly #added = new Map<string, KindLinkRow>();
  readonly #changed = new Set<KindLinkRow>();
  readonly #removed: KindLinkRow[] = [];

  constructor(kind: LinkKind, rows: readonly KindLinkRow[]) {
    this.#kind = kind;
    this.#rows = new Map(rows.map((row) => [this.#nameOf(row), row]));
  }

  find(key: LinkKey): KindLinkRow | undefined {
    const row = this.#rows.get(this.#nameOf(key));
    return row?.child_id === key.child_id ? row : undefined;
  }

  add(row: KindLinkRow): void {
    const name = this.#nameOf(row);
    this.#rows.set(name, row);
    this.#added.set(name, row);
  }

  change(row: KindLinkRow, columns: Row): void {
    Object.assign(row, columns);
    if (!this.#added.has(this.#nameOf(row))) this.#changed.add(row);
  }

  remove(row: KindLinkRow): void {
    this.#rows.delete(this.#nameOf(row));
    this.#removed.push(row);
  }

  async write({ db, access: { orgNumber }, now }: Writer): Promise<void> {
    await insertLinks(db, this.#kind, orgNumber, [...this.#added.values()]);
    await updateLinks(db, this.#kind, orgNumber, [...this.#changed]);
    await deleteLinks(db, this.#kind, orgNumber, { keys: this.#removed, now });
  }

  // A parent has one association of a kind.
  #nameOf({ parent_id, child_id }: LinkKey): string {
    return this.#kind.association === null ? `${parent_id} ${child_id}` : parent_id;
  }
}

async function load({ db, access }: Reader, named: readonly NamedLink[]): Promise<Known> {
  const { orgNumber } = access;
  const findRecords = async ([name, ids]: [string, ReadonlySet<string>]) => {
    const resource = getResource(name);
    const asked = { orgNumber, ids: [...ids], hasOwner: access.userId !== null };
    const rows = await findLinkEnds(db, resource, asked);
    const visible = rows.filter((row) => canSee(access, resource, row));
    return [name, new Map(visible.map((row) => [row.id, row]))] as const;
  };
  const byKind = Map.groupBy(named, ({ kind }) => kind);
  const findRows = async ([kind, ofKind]: [LinkKind, NamedLink[]]) => {
    const keys = ofKind.map(({ parentId, childId }) => ({ parent_id: parentId, child_id: childId }));
    return [kind, new KnownLinks(kind, await findLinks(db, kind, orgNumber, keys))] as const;
  };
  const [records, links] = await Promise.all([
    Promise.all([...idsIn(named)].map(findRecords)),
    Promise.all([...byKind].map(findRows)),
  ]);
  return new Known(new Map(records), new Map(links));
}

// The IDs by resource, as far as the links determine it.
function idsIn(named: readonly NamedLink[]): Map<string, Set<string>> {
  const ids = new Map<string, Set<string>>();
  const add = (resource: string, id: string) =>
    void ids.getOrInsertComputed(resource, () => new Set()).add(id);
  for (const { kind, parentId, childId, own } of named) {
    const { fields, children } = kind.link;
    add(kind.parent.name, parentId);
    const told = childOf(kind.link, { link: own });
    for (const child of told === undefined ? Object.values(children) : [told]) add(child, childId);
    for (const [name, { references = '' }] of Object.entries(fields)) {
      const id = own[name];
      if (references !== '' && typeof id === 'string') add(references, id);
    }
  }
  return ids;
}
