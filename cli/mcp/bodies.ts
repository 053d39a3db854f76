// Bodies of requests from the arguments of a call: names become IDs, and dates instants.
import { type TProperties, Type } from 'typebox';
import type { Field } from '../../db/model/fields.ts';
import type { Data, JsonValue } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import type { LookupKind } from '../import/plan/headers.ts';
import { ToolError } from './failures.ts';
import { instantOf } from './instants.ts';
import { idsOfNames, NAME_DESCRIPTIONS, namesOf } from './names.ts';
import type { Service } from './service.ts';
import { fieldValue, textArgument } from './tool.ts';

/** The optional arguments for the values of a record. */
export function valueArguments(fields: Readonly<Record<string, Field>>, takesNull: boolean): TProperties {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, Type.Optional(fieldValue(field, takesNull))]),
  );
}

/** The arguments for what records of these resources can be given by name. */
export function nameArguments(resources: readonly Resource[]): TProperties {
  const kinds = new Set(resources.flatMap((resource) => [...namesOf(resource).keys()]));
  return Object.fromEntries(
    [...kinds].map((kind) => [kind, Type.Optional(textArgument(NAME_DESCRIPTIONS[kind]))]),
  );
}

/** The body for a record of the resource; `existing` finds the record to change. */
export async function bodyFor(
  resource: Resource,
  given: Data,
  service: Service,
  existing?: () => Promise<Data | undefined>,
): Promise<Data> {
  const fields = namesOf(resource);
  const names = new Map<LookupKind, string>();
  const body: Data = {};
  for (const [name, value] of Object.entries(given)) {
    const field = fields.get(name as LookupKind);
    if (field === undefined) body[name] = valueToSend(name, value, resource.fields[name]);
    else if (given[field] !== undefined)
      throw new ToolError('VALIDATION_FAILED', `${name}: send either ${name} or ${field}, not both`);
    else names.set(name as LookupKind, String(value));
  }
  if (names.size === 0) return body;
  const pipelineId = typeof body.pipeline_id === 'string' ? body.pipeline_id : undefined;
  return { ...body, ...(await idsOfNames(resource, names, service, { pipelineId, existing })) };
}

/** The value; of an instant, the milliseconds. */
function valueToSend(path: string, value: JsonValue, field: Field | undefined): JsonValue {
  if (field?.kind !== 'instant') return value;
  const instant = instantOf(value, path);
  if (typeof instant !== 'string') return instant;
  const expected = '2026-03-31, 2026-03-31T09:00:00Z or Unix milliseconds';
  throw new ToolError('VALIDATION_INVALID_FORMAT', `${path}: must be ${expected}`);
}
