// Names and short IDs in conditions: what a filter has for them, until they are found.
import { type Data, isObject, type JsonValue } from '../../db/model/json.ts';
import { findQueryField } from '../../db/model/query/fields.ts';
import type { Resource } from '../../db/model/resource.ts';
import type { IdFinder } from '../api/id-finder.ts';
import { NAME_KINDS, type NameKind } from '../api/names.ts';
import { namedFields } from '../api/values.ts';

/** A name in a filter, to be replaced by the ID. */
export function nameToFind(kind: NameKind, text: string): Data {
  return { kind, text };
}

/** What records of a resource can be found by instead of an ID, with the field of the ID. */
export function namesInConditions(resource: Resource): ReadonlyMap<string, NameKind> {
  return new Map([...namedFields(resource.fields).keys()].map((kind) => [kind, kind]));
}

/** The field of the ID that a name stands for: company_id for `company`. */
export function fieldOfName(kind: NameKind, resource: Resource): string {
  return namedFields(resource.fields).get(kind) ?? kind;
}

/** The filter with the IDs of all that is named or has a short ID; without either, it takes no request. */
export async function foundFilter(filter: Data, resource: Resource, finder: IdFinder): Promise<Data> {
  return replaced(filter, undefined, async (field, value, pipelineId) => {
    const name = nameIn(value);
    if (name !== undefined) return finder.named(name.kind, name.text, pipelineId);
    const target = targetOf(field, resource);
    return typeof value === 'string' && target !== undefined ? finder.wholeId(target, value) : value;
  });
}

/** What stands for a value, in the pipeline to which the condition is limited. */
type Replace = (field: string, value: JsonValue, pipelineId: string | undefined) => Promise<JsonValue>;

// A pipeline limits what must hold together with it, and all that is in there.
async function replaced(filter: Data, outer: string | undefined, replace: Replace): Promise<Data> {
  const pipeline = pipelineIn(filter);
  const pipelineId = pipeline === undefined ? outer : String(await replace('pipeline_id', pipeline, outer));
  const parts = Object.entries(filter).map(async ([key, part]): Promise<[string, JsonValue]> => {
    if (Array.isArray(part))
      return [key, await Promise.all(part.map((one) => replaced(one as Data, pipelineId, replace)))];
    if (key === 'not') return [key, await replaced(part as Data, pipelineId, replace)];
    const replaceHere = (field: string, value: JsonValue) => replace(field, value, pipelineId);
    return [key, await replacedValues(key, part as Data, replaceHere)];
  });
  return Object.fromEntries(await Promise.all(parts));
}

async function replacedValues(
  field: string,
  operators: Data,
  replace: (field: string, value: JsonValue) => Promise<JsonValue>,
): Promise<Data> {
  const parts = Object.entries(operators).map(
    async ([operator, value]): Promise<[string, JsonValue]> => [
      operator,
      Array.isArray(value)
        ? await Promise.all(value.map((one) => replace(field, one)))
        : await replace(field, value ?? null),
    ],
  );
  return Object.fromEntries(await Promise.all(parts));
}

/** The pipeline that everything which meets a filter must have. */
function pipelineIn({ pipeline_id: condition, and }: Data): JsonValue | undefined {
  if (isObject(condition) && condition.eq !== undefined && condition.eq !== null) return condition.eq;
  return Array.isArray(and) ? firstOf(and, (part) => pipelineIn(part as Data)) : undefined;
}

function firstOf<T, R>(items: readonly T[], find: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const value = find(item);
    if (value !== undefined) return value;
  }
}

function nameIn(value: JsonValue): { kind: NameKind; text: string } | undefined {
  if (!isObject(value) || typeof value.text !== 'string') return undefined;
  const kind = NAME_KINDS.find((one) => one === value.kind);
  return kind && { kind, text: value.text };
}

/** The resource whose IDs a field has. */
function targetOf(name: string, resource: Resource): string | undefined {
  const { family, field, relation } = findQueryField(resource, name) ?? {};
  if (family !== 'id' && family !== 'ids' && family !== 'link') return undefined;
  return name === 'id' ? resource.name : (relation?.target.name ?? field?.references);
}
