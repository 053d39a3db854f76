// The records and links that a batch of links names: looked up together, changed in memory, and written together.
import type { Data } from '../../db/model/json.ts';
import { childOf } from '../../db/model/links.ts';
import type { Row } from '../../db/model/resource.ts';
import type { LinkKind } from '../../db/model/resources/link-kinds.ts';
import { getResource } from '../../db/model/resources/registry.ts';
import {
  deleteLinks,
  findLinkEnds,
  findLinks,
  insertLinks,
  type LinkEnd,
  type LinkWriting,
  updateLinks,
} from '../../db/records/link-batches.ts';
import type { References } from '../../db/records/references.ts';
import type { Tie } from '../../db/records/ties.ts';
import type { KindLinkRow } from '../../db/tables/link-lists.ts';
import { canSee } from '../access.ts';
import type { Reader, Writer } from './rules.ts';

/** A link that a client names. */
export interface NamedLink extends Tie {
  kind: LinkKind;
  /** The link's own fields, as far as they are given. */
  own: Data;
}

/** By resource and ID. */
type Records = Map<string, Map<string, LinkEnd>>;

/** The records and links that a batch names, as far as the key can see them, with the changes so far. */
export class Known {
  readonly #records: Records;
  readonly #links: ReadonlyMap<LinkKind, KnownLinks>;

  constructor(records: Records, links: ReadonlyMap<LinkKind, KnownLinks>) {
    this.#records = records;
    this.#links = links;
  }

  /** The IDs that reference fields can have. */
  get references(): References {
    return this.#records;
  }

  record(resource: string, id: string): LinkEnd | undefined {
    return this.#records.get(resource)?.get(id);
  }

  links(kind: LinkKind): KnownLinks {
    const links = this.#links.get(kind);
    if (links === undefined) throw new Error(`links of ${kind.name} were not looked up`);
    return links;
  }

  async write({ db, access, now }: Writer): Promise<void> {
    const end = (resource: string, id: string) => this.record(resource, id);
    for (const links of this.#links.values())
      await links.write(db, { orgNumber: access.orgNumber, now, end });
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

  find(tie: Tie): KindLinkRow | undefined {
    if (this.#rows.size === 0) return undefined;
    const row = this.#rows.get(this.#nameOf(tie));
    return row?.child_id === tie.child_id ? row : undefined;
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

  async write(db: Writer['db'], writing: LinkWriting): Promise<void> {
    await insertLinks(db, this.#kind, writing, [...this.#added.values()]);
    await updateLinks(db, this.#kind, writing, [...this.#changed]);
    await deleteLinks(db, this.#kind, writing, this.#removed);
  }

  // A parent has one association of a kind.
  #nameOf({ parent_id, child_id }: Tie): string {
    return this.#kind.association === null ? `${parent_id} ${child_id}` : parent_id;
  }
}

type ByKind = ReadonlyMap<LinkKind, readonly NamedLink[]>;

/** Looks up what the links of a batch depend on. */
export async function lookUpLinks(reader: Reader, byKind: ByKind): Promise<Known> {
  const { db, access } = reader;
  const records: Records = new Map();
  const findLinksOf = async ([kind, ofKind]: [LinkKind, readonly NamedLink[]]) =>
    [kind, new KnownLinks(kind, await findLinks(db, kind, access.orgNumber, ofKind))] as const;
  const [links] = await Promise.all([
    Promise.all([...byKind].map(findLinksOf)),
    addRecords(reader, records, toldIds(byKind)),
  ]);
  const known = new Known(records, new Map(links));
  await addRecords(reader, records, otherChildren(byKind, known));
  return known;
}

type IdsByResource = ReadonlyMap<string, ReadonlySet<string>>;

// Adds those of the records that the key can see.
async function addRecords({ db, access }: Reader, records: Records, wanted: IdsByResource): Promise<void> {
  const adding = [...wanted].map(async ([name, ids]) => {
    const resource = getResource(name);
    const found = records.getOrInsertComputed(name, () => new Map());
    for (const row of await findLinkEnds(db, resource, access.orgNumber, [...ids]))
      if (canSee(access, resource, row)) found.set(row.id, row);
  });
  await Promise.all(adding);
}

// The parents, the children whose resource is known already, and what own fields refer to.
function toldIds(byKind: ByKind): IdsByResource {
  const ids = new Map<string, Set<string>>();
  const idsOf = (resource: string) => ids.getOrInsertComputed(resource, () => new Set());
  for (const [kind, ofKind] of byKind) {
    const parents = idsOf(kind.parent.name);
    const references = Object.entries(kind.link.fields).filter(([, field]) => field.references);
    for (const { parent_id, child_id, own } of ofKind) {
      parents.add(parent_id);
      const child = childOf(kind.link, { link: own });
      if (child !== undefined) idsOf(child).add(child_id);
      for (const [name, { references: target = '' }] of references) {
        const id = own[name];
        if (typeof id === 'string') idsOf(target).add(id);
      }
    }
  }
  return ids;
}

// The children whose resource the parent or the link says.
function otherChildren(byKind: ByKind, known: Known): IdsByResource {
  const ids = new Map<string, Set<string>>();
  for (const [kind, ofKind] of byKind) {
    if (kind.link.typedBy === null) continue;
    const links = known.links(kind);
    for (const named of ofKind) {
      if (childOf(kind.link, { link: named.own }) !== undefined) continue;
      const parent = known.record(kind.parent.name, named.parent_id);
      const link = links.find(named);
      const child = childOf(kind.link, { parent, link });
      if (child !== undefined) ids.getOrInsertComputed(child, () => new Set()).add(named.child_id);
    }
  }
  return ids;
}
