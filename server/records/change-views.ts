// What a key sees of a change: by what it could see of the record before and after it, at the time.

import type { ChangeActor } from '../../db/accounts/change-actors.ts';
import {
  CHANGE_ACTIONS,
  CHANGE_RESOURCES,
  type ChangeAction,
  type DeletedValues,
  type LinkValues,
} from '../../db/changes/changes.ts';
import { isLoggedAsShown, type UpdateValues } from '../../db/changes/logged-values.ts';
import { requestIdOf } from '../../db/engine/author.ts';
import type { ChangeRow } from '../../db/engine/change-row.ts';
import { instantText } from '../../db/model/instants.ts';
import type { Data, JsonValue } from '../../db/model/json.ts';
import { isMixed } from '../../db/model/links.ts';
import { shownColumns } from '../../db/model/record-forms.ts';
import type { Resource } from '../../db/model/resource.ts';
import { contacts } from '../../db/model/resources/contacts.ts';
import { getLinkKind } from '../../db/model/resources/link-kinds.ts';
import { getResource } from '../../db/model/resources/registry.ts';
import { idOfBytes } from '../../db/tables/id-bytes.ts';
import { type Access, mayRead } from '../access.ts';

/** A change as a key sees it, without who made it. */
export interface ChangeView {
  row: ChangeRow;
  resource: Resource;
  recordId: string;
  action: ChangeAction;
  before: Data | null;
  after: Data | null;
  link: Data | null;
}

/** The change as the key sees it; null if it does not see it at all. */
export function viewOf(access: Access, row: ChangeRow): ChangeView | null {
  const resource = getResource(CHANGE_RESOURCES[row.resource] ?? '');
  const action = CHANGE_ACTIONS[row.action] ?? 'updated';
  const data = (row.data === null ? {} : JSON.parse(row.data)) as Partial<Values>;
  const view = {
    row,
    resource,
    recordId: idOfBytes(row.record),
    action,
    before: null,
    after: null,
    link: null,
  };
  if (action === 'linked' || action === 'unlinked')
    return seesLink(access, view, data) ? { ...view, link: shownLink(data) } : null;
  const isSeen = seesOwned(access, resource, row.owner);
  if (action !== 'updated' && !isSeen) return null;
  if (row.data === null && isSeen) return view;
  if (action !== 'updated') return { ...view, before: shownRecord(resource, data) };
  const wasSeen = data.owner === undefined ? isSeen : sees(access, resource, data.owner);
  if (!isSeen && !wasSeen) return null;
  if (!isSeen) return { ...view, action: 'deleted' };
  if (!wasSeen) return { ...view, action: 'created' };
  const { before, after } = data;
  return { ...view, before: shownFields(resource, before), after: shownFields(resource, after) };
}

type Values = UpdateValues & DeletedValues & LinkValues;

/** Whether the key sees records of that owner. */
export function sees({ userId }: Access, { owner }: Resource, ownerId: unknown): boolean {
  return userId === null || owner === null || ownerId === userId;
}

function seesOwned(access: Access, resource: Resource, owner: Uint8Array | null): boolean {
  return access.userId === null || sees(access, resource, owner && idOfBytes(owner));
}

// Whether the key sees both ends, and could list the links.
function seesLink(access: Access, { row, resource }: ChangeView, link: Partial<LinkValues>): boolean {
  // A link whose values are erased ended at a contact.
  const child = getResource(link.resource ?? contacts.name);
  const isMixedList = link.name !== undefined && isMixed(getLinkKind(`${resource.name}.${link.name}`).link);
  return (
    (isMixedList || mayRead(access, child)) &&
    seesOwned(access, resource, row.owner) &&
    sees(access, child, link.owner)
  );
}

function shownLink({ name, resource, id, linked_at, fields }: Partial<LinkValues>): Data | null {
  if (name === undefined || resource === undefined || id === undefined) return null;
  return { name, resource, id, linked_at: instantText(linked_at ?? 0), ...fields };
}

/** The whole record of a delete, as shown; null if its values are erased. */
export function shownRecord(resource: Resource, { record }: Partial<DeletedValues>): Data | null {
  if (record === undefined) return null;
  const shown: Data = {};
  for (const { name, isStored } of shownColumns(resource.fields)) {
    const isKept = name in record || isStored;
    shown[name] = isKept
      ? shownValue(resource, name, record[name])
      : (resource.fields[name]?.initial ?? null);
  }
  return shown;
}

function shownFields(resource: Resource, values: Data | undefined): Data | null {
  if (values === undefined) return null;
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, shownValue(resource, name, value)]),
  );
}

function shownValue(resource: Resource, name: string, value: JsonValue | undefined): JsonValue {
  const field = resource.fields[name];
  if (value !== undefined && isLoggedAsShown(resource, name)) return value;
  return field?.decode((value ?? null) as never) ?? null;
}

/**
 * A change as a response shows it, without the record as it is now.
 * @param actors the keys that made changes, by their numbers
 */
export function showChange(
  { userId }: Access,
  { row, resource, recordId, action, before, after, link }: ChangeView,
  actors: ReadonlyMap<number, ChangeActor>,
): Data {
  const key = actors.get(row.actor);
  const { request } = row;
  return {
    object: 'change',
    sequence: userId === null ? row.sequence : null,
    at: instantText(row.at),
    action,
    resource: resource.name,
    record_id: recordId,
    actor:
      key === undefined
        ? { type: 'operator', id: null, user_id: null }
        : { type: 'key', id: key.id, user_id: key.userId },
    request_id: request && requestIdOf(request),
    cause: userId === null ? row.cause : null,
    before,
    after,
    link,
  };
}
