// Upserts: a record is found by a value that identifies it and then changed; if there is none, it is created.

import { type ExternalId, externalIdName } from '../../db/model/external-ids.ts';
import { type Fault, requiredFault } from '../../db/model/faults.ts';
import { type Data, isObject } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { duplicateMessage, type UniqueValue, uniqueValues } from '../../db/model/rules.ts';
import { joinWithOr } from '../../db/model/text.ts';
import { matchNames, ON_MATCH, type OnMatch } from '../../db/model/upserts.ts';
import { listExternalIds, lookUpExternalIds } from '../../db/records/record-external-ids.ts';
import { findOwners, uniqueName } from '../../db/records/unique.ts';
import { canSee } from '../access.ts';
import { ApiError } from '../errors.ts';
import { conflict } from './conflict.ts';
import { externalIdTaken, type KnownExternalIds } from './external-ids.ts';
import { loadKnownRecords } from './lookups.ts';
import { initialRecord, type LoadedRecord, loadRecords, planCreate, planUpdate } from './plans.ts';
import { rulesOf } from './registry.ts';
import type { Change, Writer } from './rules.ts';
import type { PlannedChange, RunPlan } from './run-plan.ts';

const EXTERNAL_ID = 'external_id';

/** Faults of the body of an upsert beyond its schema: it must have a value to find a record by. */
export function upsertFaults(resource: Resource, body: Data): Fault[] {
  if (namesToMatch(resource, body).length > 0) return [];
  const names = joinWithOr(matchNames(resource));
  const message = `must name a field that is in the body, to find the record by: ${names}`;
  return [{ path: 'match', message, code: 'VALIDATION_REQUIRED_FIELD' }];
}

// Those that the body has, in their order.
function namesToMatch(resource: Resource, body: Data): string[] {
  const names = Array.isArray(body.match) ? body.match.map(String) : matchNames(resource);
  return names.filter((name) => (body[name] ?? null) !== null);
}

/** The body of an upsert, in its parts. */
interface Upsert {
  fields: Data;
  unique: readonly UniqueValue[];
  externalId: ExternalId | null;
  names: readonly string[];
  onMatch: OnMatch;
  isCreated: boolean;
}

function upsertOf(resource: Resource, body: Data): Upsert {
  const { external_id, match: _, on_match, on_missing, ...fields } = body;
  return {
    fields,
    unique: uniqueValues(resource, fields),
    externalId: isObject(external_id)
      ? { source: String(external_id.source), id: String(external_id.id) }
      : null,
    names: namesToMatch(resource, body),
    onMatch: ON_MATCH.find((one) => one === on_match) ?? 'update',
    isCreated: on_missing !== 'fail',
  };
}

/** The record that an upsert finds. */
interface Match {
  id: string;
  by: string;
}

/** Plans upserts from bodies without faults. */
export async function planUpserts(
  writer: Writer,
  resource: Resource,
  bodies: readonly Data[],
): Promise<RunPlan> {
  const { db, access } = writer;
  const upserts = bodies.map((body) => upsertOf(resource, body));
  const wanted = upserts.flatMap(({ externalId }) => externalId ?? []);
  const [owners, externalOwners] = await Promise.all([
    findOwners(db, resource, access.orgNumber, upserts),
    lookUpExternalIds(db, resource, access.orgNumber, wanted),
  ]);
  const find = (upsert: Upsert) => findMatch(upsert, owners, externalOwners);
  const matches = upserts.map(find);
  const matchedIds = matches.flatMap((match) => match?.id ?? []);
  const [records, held] = await Promise.all([
    loadRecords(writer, resource, [...matchedIds, ...externalOwners.values()]),
    wanted.length === 0 ? [] : listExternalIds(db, resource, access.orgNumber, [...new Set(matchedIds)]),
  ]);
  const batch: Change[] = [];
  const initial = initialRecord(writer, resource);
  const plans = upserts.map((upsert, index): PlannedChange | ApiError => {
    const match = matches[index];
    const record = match && records.get(match.id);
    if (match === undefined || record === undefined) {
      if (!upsert.isCreated) return noMatch(resource);
      const plan = planCreate(writer, resource, { initial, batch }, upsert.fields);
      plan.change.faults.push(...missingFaults(resource, upsert.fields));
      return { ...plan, externalId: upsert.externalId };
    }
    if (!canSee(access, resource, record.row))
      return upsert.isCreated ? takenBy(writer, resource, upsert, match, record) : noMatch(resource);
    const { fields, faults } = fieldsToWrite(resource, upsert, match, record.shown);
    const plan = planUpdate(writer, resource, { record, batch }, fields);
    plan.change.faults.push(...faults);
    return { ...plan, externalId: upsert.externalId, matchedBy: match.by };
  });
  const known = await loadKnownRecords(writer, resource, batch, owners);
  const sources = new Map<string, Set<string>>();
  for (const { record_id, source } of held) sources.getOrInsert(record_id, new Set()).add(source);
  const externalIds: KnownExternalIds = {
    owners: externalOwners,
    sources,
    ownerRow: (id) => known.accepted.get(id) ?? records.get(id)?.row,
  };
  const isOutdated = (index: number) => {
    const upsert = upserts[index];
    return upsert !== undefined && find(upsert)?.id !== matches[index]?.id;
  };
  return { plans, known, externalIds, isOutdated };
}

function findMatch(
  { names, unique, externalId }: Upsert,
  owners: ReadonlyMap<string, string>,
  externalOwners: ReadonlyMap<string, string>,
): Match | undefined {
  for (const by of names) {
    const value = unique.find(({ path }) => path === by);
    const id =
      by === EXTERNAL_ID
        ? externalId && externalOwners.get(externalIdName(externalId))
        : value && owners.get(uniqueName(value));
    if (typeof id === 'string') return { id, by };
  }
  return undefined;
}

function noMatch({ singular }: Resource): ApiError {
  return new ApiError('RESOURCE_NOT_FOUND', `Your organization has no ${singular} that matches.`);
}

function missingFaults({ createSchema }: Resource, fields: Data): Fault[] {
  const { required = [] } = createSchema as { required?: readonly string[] };
  return required.filter((name) => fields[name] === undefined).map(requiredFault);
}

// A hidden record conflicts in the words in which it conflicts with a create.
function takenBy(
  { access }: Writer,
  resource: Resource,
  { unique }: Upsert,
  { by }: Match,
  { row }: LoadedRecord,
): ApiError {
  const value = unique.find(({ path }) => path === by);
  if (value === undefined) return externalIdTaken(access, resource, row, by);
  return conflict(access, resource, row, { path: by, message: duplicateMessage(resource, value) });
}

// The fields that are written to the record that was found.
function fieldsToWrite(
  resource: Resource,
  { fields, onMatch }: Upsert,
  { by }: Match,
  current: Data,
): { fields: Data; faults: Fault[] } {
  if (onMatch === 'keep') return { fields: {}, faults: [] };
  const given = rulesOf(resource).onMatch?.({ fields, current, matchedBy: by }) ?? fields;
  if (onMatch === 'fill') return { fields: missingIn(current, given), faults: [] };
  const faults: Fault[] = [];
  const written: Data = {};
  for (const name in given) {
    const value = given[name] ?? null;
    const isFixed = resource.fields[name]?.access === 'create';
    if ((isFixed || name === by) && value === current[name]) continue;
    const message = 'cannot be changed; remove it or repeat the current value';
    if (isFixed) faults.push({ path: name, message, code: 'VALIDATION_FAILED' });
    written[name] = value;
  }
  return { fields: written, faults };
}

// The fields that the record does not have yet.
function missingIn(current: Data, given: Data): Data {
  const missing: Data = {};
  for (const [name, value] of Object.entries(given)) {
    const known = current[name] ?? null;
    if (value === null) continue;
    if (known === null || (Array.isArray(known) && known.length === 0)) missing[name] = value;
    else if (name === 'custom' && isObject(known) && isObject(value)) {
      const added = Object.entries(value).filter(([key, one]) => one !== null && !Object.hasOwn(known, key));
      if (added.length > 0) missing[name] = Object.fromEntries(added);
    }
  }
  return missing;
}
