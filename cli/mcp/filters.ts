// Filters as assistants write them: names become IDs, as in --where, and days the instants that they begin and end with.
import { type Data, isObject, type JsonValue } from '../../db/model/json.ts';
import { findQueryField, OPERATORS } from '../../db/model/query/fields.ts';
import type { Resource } from '../../db/model/resource.ts';
import { type NameKind, type NameSource, nameKindOf } from '../api/names.ts';
import { namedFields } from '../api/values.ts';
import { DAY_MS, isoMilliseconds } from '../input/instant.ts';
import { isOurId } from '../input/record-id.ts';
import { ToolError } from './failures.ts';
import { instantOf } from './instants.ts';
import { idNamed, sourceIn } from './names.ts';
import type { Service } from './service.ts';

/** The filter that the server is sent. What is malformed is left as it is, for the server to refuse. */
export function filterToSend(
  filter: JsonValue | undefined,
  resource: Resource,
  service: Service,
): Promise<JsonValue | undefined> {
  if (filter === undefined) return Promise.resolve(undefined);
  return new FilterReader(resource, sourceIn(service)).read(filter, 'filter');
}

class FilterReader {
  readonly #resource: Resource;
  readonly #source: NameSource;
  readonly #named: ReadonlyMap<string, string>;

  constructor(resource: Resource, source: NameSource) {
    this.#resource = resource;
    this.#source = source;
    this.#named = namedFields(resource.fields);
  }

  /** @param outer the pipeline to which what is around the filter limits it */
  async read(filter: JsonValue, path: string, outer?: string): Promise<JsonValue> {
    if (!isObject(filter)) return filter;
    const pipelineId = (await this.#pipelineIn(filter, path)) ?? outer;
    const read: Data = {};
    for (const [key, part] of Object.entries(filter)) {
      const at = `${path}.${key}`;
      const name = this.#named.get(key) ?? key;
      if (name !== key && filter[name] !== undefined)
        throw new ToolError('VALIDATION_FAILED', `${at}: send either ${key} or ${name}, not both`);
      if (key === 'not') read.not = await this.read(part, at, pipelineId);
      else if ((key === 'and' || key === 'or') && Array.isArray(part))
        read[key] = await inTurn(part, (one, index) => this.read(one, `${at}.${index}`, pipelineId));
      else read[name] = await this.#condition(name, part, at, pipelineId);
    }
    return read;
  }

  /** The pipeline that everything which meets a filter must have. */
  async #pipelineIn(filter: Data, path: string): Promise<string | undefined> {
    if (!this.#named.has('pipeline')) return undefined;
    for (const name of ['pipeline', 'pipeline_id']) {
      const condition = filter[name];
      const text = isObject(condition) ? condition.eq : condition;
      if (typeof text === 'string') return idNamed('pipeline', text, `${path}.${name}`, this.#source);
    }
    const parts = Array.isArray(filter.and) ? filter.and : [];
    for (const [index, part] of parts.entries()) {
      const found = isObject(part) ? await this.#pipelineIn(part, `${path}.and.${index}`) : undefined;
      if (found !== undefined) return found;
    }
  }

  async #condition(name: string, part: JsonValue, path: string, pipelineId?: string): Promise<JsonValue> {
    const field = findQueryField(this.#resource, name);
    if (field?.family === 'instant') return timesIn(part, path);
    if (field === undefined || !['id', 'ids', 'link'].includes(field.family)) return part;
    const kind = nameKindOf(field.relation?.target.name ?? field.field?.references ?? '');
    const idOf = (value: JsonValue, at: string) => this.#idOf(value, kind, at, pipelineId);
    if (!isObject(part)) return idOf(part, path);
    const allowed: readonly string[] = OPERATORS[field.family].filter((operator) => operator !== 'is_null');
    const operators = { ...part };
    for (const [operator, value] of Object.entries(part)) {
      if (!allowed.includes(operator)) continue;
      const at = `${path}.${operator}`;
      operators[operator] = Array.isArray(value)
        ? await inTurn(value, (one, index) => idOf(one, `${at}.${index}`))
        : await idOf(value, at);
    }
    return operators;
  }

  async #idOf(
    value: JsonValue,
    kind: NameKind | undefined,
    path: string,
    pipelineId: string | undefined,
  ): Promise<JsonValue> {
    if (typeof value !== 'string' || isOurId(value)) return value;
    if (kind !== undefined) return idNamed(kind, value, path, this.#source, pipelineId);
    throw new ToolError('VALIDATION_INVALID_FORMAT', `${path}: must be an ID, and "${value}" is not one`, {
      steps: ['Find the ID with search or query.'],
    });
  }
}

// The first name that stands for nothing is told, and its look-ups are enough for the others.
async function inTurn(
  values: readonly JsonValue[],
  change: (value: JsonValue, index: number) => Promise<JsonValue>,
): Promise<JsonValue[]> {
  const changed: JsonValue[] = [];
  for (const [index, value] of values.entries()) changed.push(await change(value, index));
  return changed;
}

/** The condition of a field of instants; a day is all of it, in UTC. */
function timesIn(part: JsonValue, path: string): JsonValue {
  if (!isObject(part)) return isDay(part) ? { between: wholeDay(part, path) } : instantOf(part, path);
  if ('ago' in part || 'ahead' in part) return part;
  const read = Object.entries(part).map(([operator, value]): [string, JsonValue] => {
    const at = `${path}.${operator}`;
    if (operator === 'eq' && isDay(value)) return ['between', wholeDay(value, at)];
    if (operator === 'lte' || operator === 'gt') return [operator, lastOf(value, at)];
    if (!Array.isArray(value)) return [operator, instantOf(value, at)];
    return [
      operator,
      value.map((one, index) =>
        operator === 'between' && index === 1 ? lastOf(one, at) : instantOf(one, at),
      ),
    ];
  });
  return Object.fromEntries(read);
}

function wholeDay(day: string, path: string): JsonValue {
  return [instantOf(day, path), lastOf(day, path)];
}

/** The last millisecond of a day, or the milliseconds of a time. */
function lastOf(value: JsonValue, path: string): JsonValue {
  const first = instantOf(value, path);
  return isDay(value) && typeof first === 'number' ? first + DAY_MS - 1 : first;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

function isDay(value: JsonValue): value is string {
  return typeof value === 'string' && DAY.test(value) && isoMilliseconds(value) !== undefined;
}
