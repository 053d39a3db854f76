// The checks that every change passes before anything is written; rules add the special cases.

import { andThen, type Eventually } from '../../db/engine/engine.ts';
import { instantText } from '../../db/model/instants.ts';
import { type Data, isObject } from '../../db/model/json.ts';
import { CUSTOM_KEYS_MAX } from '../../db/model/json-fields.ts';
import { withFields } from '../../db/model/record-forms.ts';
import type { Resource } from '../../db/model/resource.ts';
import { identityFaults, uniqueValues } from '../../db/model/rules.ts';
import { referenceFaults } from '../../db/records/references.ts';
import { ApiError, validationError } from '../errors.ts';
import { rejectDuplicate } from './conflict.ts';
import type { KnownRecords } from './lookups.ts';
import { rulesOf } from './registry.ts';
import type { Change, Writer } from './rules.ts';

/** What is to be changed. */
interface Subject {
  id: string;
  /** The record before; null for a create. */
  current: Data | null;
  /** The record to which the ID, the time and the fields of the body are added. */
  base: Readonly<Data>;
  /** The batch of the change, which it is added to. */
  batch: Change[];
}

/** The change that a body makes, not yet checked. */
export function changeOf(
  { db: trx, access, now }: Writer,
  resource: Resource,
  { id, current, base, batch }: Subject,
  input: Data,
): Change {
  const unique = uniqueValues(resource, input);
  const next = withFields(resource.fields, base, input);
  next.id = id;
  next.updated_at = instantText(now);
  const change: Change = { trx, access, now, resource, id, current, input, unique, next, faults: [], batch };
  batch.push(change);
  if (current === null) takeOwnership(change);
  mergeCustom(change);
  return change;
}

/**
 * Checks a change and lets the rules complete it.
 * @throws ApiError 403, 409, 422
 */
export function check(change: Change, known: KnownRecords): Eventually<void> {
  const { resource, next, faults } = change;
  const rules = rulesOf(resource);
  refuseGivingAway(change);
  faults.push(...identityFaults(resource, next));
  faults.push(...referenceFaults(resource.fields, change, known.references));
  return andThen(rules.prepare?.(change), () => {
    if (faults.length > 0) throw validationError(faults);
    return andThen(rejectDuplicate(change, known), () => rules.claim?.(change));
  });
}

// created_by follows from the key; a user-bound key can set any other owner field only to its user.
function takeOwnership({ access, resource, input, next }: Change): void {
  if (access.userId === null || resource.owner === null || resource.owner === 'created_by') return;
  if ((input[resource.owner] ?? null) === null) next[resource.owner] = access.userId;
}

function refuseGivingAway({ access, resource, current, input }: Change): void {
  if (access.userId === null || resource.owner === null) return;
  const owner = input[resource.owner];
  if (owner === undefined || owner === access.userId || (owner === null && current === null)) return;
  const message = `This key is user-bound: ${resource.owner} must be its user.`;
  throw new ApiError('OPERATION_FORBIDDEN', message);
}

function mergeCustom({ resource, current, input, next, faults }: Change): void {
  const sent = input.custom;
  if (resource.fields.custom === undefined || !isObject(sent)) return;
  const merged = { ...(isObject(current?.custom) ? current.custom : {}), ...sent };
  for (const name in merged) if (merged[name] === null) delete merged[name];
  next.custom = merged;
  const count = Object.keys(merged).length;
  if (count <= CUSTOM_KEYS_MAX) return;
  const message = `must have at most ${CUSTOM_KEYS_MAX} keys; together with the existing keys it would have ${count}`;
  faults.push({ path: 'custom', message, code: 'VALIDATION_OUT_OF_RANGE' });
}
