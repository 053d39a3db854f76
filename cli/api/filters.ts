// `--filter`: values in the form of their filters, and what has to be found before the list is asked for.

import { rfc3339Ms } from '../../db/model/instants.ts';
import type { Filter, Resource } from '../../db/model/resource.ts';
import { findResource } from '../../db/model/resources/registry.ts';
import { clip } from '../../db/model/text.ts';
import { type CliError, usageError } from '../errors.ts';
import { choiceOf } from '../input/field-value.ts';
import { isOurId } from '../input/record-id.ts';
import { idRangeOf } from '../input/short-id.ts';
import { didYouMean } from '../nearest.ts';
import { sinceMs } from '../settings/since.ts';
import type { IdFinder } from './id-finder.ts';
import { notAnId } from './ids.ts';
import { lengthFault, stageLengthFault } from './name-lengths.ts';
import { type NameKind, nameKindOf } from './names.ts';
import { splitPair } from './pairs.ts';

/** What a filter takes. */
export interface FilterShape extends Pick<Filter, 'type' | 'references'> {
  /** Whether it takes neither short IDs nor names. */
  hasWholeIds?: boolean;
}
export type FilterShapes = Readonly<Record<string, FilterShape>>;

const WINDOW: FilterShape = { type: 'instant', references: [] };

/** The filters of a resource, with those by the time of its records. */
export function listFilters(resource: Resource): FilterShapes {
  const windows = resource.sorts.map((sort) => [sort.replace(/_at$/, '_since'), WINDOW]);
  return { ...resource.filters, ...Object.fromEntries(windows) };
}

/** What can be named instead of an ID, with the filter that takes the ID. */
export function namedFilters(filters: FilterShapes): ReadonlyMap<NameKind, string> {
  const named = new Map<NameKind, string>();
  for (const [name, { references, hasWholeIds = false }] of Object.entries(filters)) {
    const kind = references.length === 1 && !hasWholeIds ? nameKindOf(references[0] ?? '') : undefined;
    if (kind !== undefined && !named.has(kind)) named.set(kind, name);
  }
  return named;
}

/** Checks filters given as `key=value`; throws a usage error for what cannot be right. */
export function checkedFilters(
  name: string,
  given: readonly string[],
  filters: FilterShapes,
): CheckedFilters {
  const checked = new CheckedFilters(name, filters);
  for (const one of given) checked.add(splitPair(one, '--filter'));
  return checked;
}

type Find = (finder: IdFinder) => Promise<string>;

const PIPELINE = 'pipeline_id';

/** Filters that are right as far as one can tell without the server. */
export class CheckedFilters {
  readonly #name: string;
  readonly #filters: FilterShapes;
  readonly #kinds: ReadonlyMap<NameKind, string>;
  readonly #finds = new Map<string, Find>();

  constructor(name: string, filters: FilterShapes) {
    this.#name = name;
    this.#filters = filters;
    this.#kinds = namedFilters(filters);
  }

  /** The query that the filters make, once what they name is found. */
  async query(finder: IdFinder): Promise<Record<string, string>> {
    const query: Record<string, string> = {};
    for (const [key, find] of this.#finds) query[key] = await find(finder);
    return query;
  }

  /** Throws a usage error for what cannot be right. */
  add({ key: word, value }: { key: string; value: string }): void {
    const kind = [...this.#kinds.keys()].find((each) => each === word);
    const key = (kind && this.#kinds.get(kind)) ?? word;
    const filter = Object.hasOwn(this.#filters, key) ? this.#filters[key] : undefined;
    if (filter === undefined) throw this.#unknown(word);
    if (value === '') throw noValue(word);
    const tooLong = (kind === 'stage' ? stageLengthFault : lengthFault)(value);
    if (tooLong !== undefined)
      throw usageError(`--filter ${word}: the value ${tooLong.message}.`, 'use a shorter value.');
    if (this.#finds.has(key))
      throw usageError(`The filter "${key}" is given twice.`, 'use each filter only once.');
    if (kind !== undefined) this.#finds.set(key, this.#nameFinder(kind, value));
    else if (filter.references.length > 0) this.#finds.set(key, this.#idFinder(key, value, filter));
    else {
      const text = valueFor(word, value, filter);
      this.#finds.set(key, async () => text);
    }
  }

  #nameFinder(kind: NameKind, value: string): Find {
    return async (finder) => {
      const pipeline = kind === 'stage' ? await this.#finds.get(PIPELINE)?.(finder) : undefined;
      return finder.named(kind, value, pipeline);
    };
  }

  #idFinder(key: string, value: string, { references: owners, hasWholeIds = false }: FilterShape): Find {
    if (isOurId(value)) return async () => value;
    const resources = owners.filter((one) => findResource(one) !== undefined);
    if (!hasWholeIds && resources.length > 0 && idRangeOf(value) !== undefined)
      return (finder) => finder.oneOf(resources, value);
    const kind = [...this.#kinds].find(([, filter]) => filter === key)?.[0];
    throw notAnId(this.#name, { key, value, resources: owners, kind: hasWholeIds ? undefined : kind });
  }

  #unknown(key: string): CliError {
    const known = [...Object.keys(this.#filters), ...this.#kinds.keys()];
    if (known.length === 0) return usageError(`${this.#name} have no filters.`, 'remove --filter.');
    return usageError(
      `Unknown filter "${key}" for ${this.#name}.${didYouMean(key, known)}`,
      `use one of: ${known.join(', ')}.`,
    );
  }
}

function valueFor(key: string, value: string, { type }: FilterShape): string {
  if (type === 'instant') return timeFor(value);
  if (typeof type === 'string') return value;
  const choice = choiceOf(type, value);
  if (choice !== undefined) return choice;
  throw usageError(
    `--filter ${key} does not take "${clip(value)}".${didYouMean(value, type)}`,
    `use one of: ${type.join(', ')}.`,
  );
}

// What the server reads itself is left as it is written.
function timeFor(text: string): string {
  const isRead = /^-?\d{5,}$/.test(text) || rfc3339Ms(text) !== undefined;
  return isRead ? text : String(sinceMs(text, Date.now(), ['Unix milliseconds', 'ahead 7d']));
}

function noValue(key: string): CliError {
  return usageError(
    `--filter ${key}= has no value.`,
    `add a value, like ${key}=VALUE. Filters cannot find records with an empty field.`,
  );
}
