// Links and unlinks many records at once: looked up together, checked one by one, and written together.
import { referenceFault } from '../../db/model/faults.ts';
import { childOf } from '../../db/model/links.ts';
import { toColumns } from '../../db/model/record-forms.ts';
import type { LinkKind } from '../../db/model/resources/link-kinds.ts';
import { referenceFaults } from '../../db/records/references.ts';
import { hasScope } from '../access.ts';
import { ApiError, insufficientScope, notFound, validationError } from '../errors.ts';
import { type Known, lookUpLinks, type NamedLink } from './known-links.ts';
import { showLink } from './link-lists.ts';
import type { ItemOutcome } from './outcomes.ts';
import type { Writer } from './rules.ts';

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
  const byKind = Map.groupBy(named, ({ kind }) => kind);
  const refusals = new Map<LinkKind, ApiError>();
  for (const kind of byKind.keys()) {
    const scope = writeScopeOf(kind);
    if (!hasScope(access, scope)) refusals.set(kind, insufficientScope(scope));
  }
  for (const kind of refusals.keys()) byKind.delete(kind);
  const known = await lookUpLinks(writer, byKind);
  const outcomes = named.map((one) => refusals.get(one.kind) ?? each(known, one, now));
  await known.write(writer);
  return outcomes;
}

/** The scope that linking and unlinking needs. */
export function writeScopeOf({ parent }: LinkKind): string {
  return `${parent.name}:write`;
}

function link(known: Known, named: NamedLink, now: number): ItemOutcome {
  const { kind, parent_id, child_id, own } = named;
  const parent = known.record(kind.parent.name, parent_id);
  if (parent === undefined) return missingParent(kind);
  const { fields } = kind.link;
  const childName = childOf(kind.link, { link: own, parent }) ?? '';
  const faults = referenceFaults(fields, { input: own, current: null }, known.references);
  if (known.record(childName, child_id) === undefined) faults.unshift(referenceFault('id', childName));
  if (faults.length > 0) return validationError(faults);
  const links = known.links(kind);
  const columns = toColumns(fields, own);
  const row = links.find(named);
  if (row === undefined) {
    const added = { ...columns, parent_id, child_id, linked_at: now };
    links.add(added);
    return { status: 'linked', data: showLink(kind, added) };
  }
  const isChanged = Object.keys(columns).some((name) => (row[name] ?? null) !== columns[name]);
  if (isChanged) links.change(row, columns);
  return { status: isChanged ? 'linked' : 'unchanged', data: showLink(kind, row) };
}

function unlink(known: Known, named: NamedLink): ItemOutcome {
  const { kind, parent_id, child_id } = named;
  const parent = known.record(kind.parent.name, parent_id);
  if (parent === undefined) return missingParent(kind);
  const links = known.links(kind);
  const row = links.find(named);
  const childName = row && childOf(kind.link, { link: row, parent });
  if (row === undefined || known.record(childName ?? '', child_id) === undefined) return missingLink(kind);
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
