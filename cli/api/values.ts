// Values of fields from `field=value`: in the types of their fields, and IDs for names and short IDs.
import { textFault } from '../../db/model/faults.ts';
import type { Field } from '../../db/model/fields.ts';
import type { Data, JsonValue } from '../../db/model/json.ts';
import { singularOf, withArticle } from '../../db/model/text.ts';
import { type CliError, usageError } from '../errors.ts';
import { valueOfText } from '../input/field-value.ts';
import { isoMilliseconds } from '../input/instant.ts';
import { isOurId } from '../input/record-id.ts';
import { idRangeOf } from '../input/short-id.ts';
import { didYouMean } from '../nearest.ts';
import { dayOfWord } from '../settings/since.ts';
import { shellWord } from '../terminal/text.ts';
import type { IdFinder } from './id-finder.ts';
import { commandForIds } from './ids.ts';
import { type NameKind, nameKindOf } from './names.ts';
import { splitPair } from './pairs.ts';

type Fields = Readonly<Record<string, Field>>;

/** The values of `field=value` pairs; `custom.key=value` sets a custom field, `field=` clears a field. */
export function givenValues(pairs: readonly string[], fields: Fields): GivenValues {
  const values = new GivenValues(fields);
  for (const pair of pairs) values.add(splitPair(pair, 'The value'));
  return values.whole();
}

/** What can be named instead of its ID, with the field that has the ID. */
export function namedFields(fields: Fields): ReadonlyMap<NameKind, string> {
  const named = new Map<NameKind, string>();
  for (const [name, { kind, references = '' }] of Object.entries(fields)) {
    const noun = kind === 'reference' ? nameKindOf(references) : undefined;
    if (noun !== undefined && !named.has(noun)) named.set(noun, name);
  }
  return named;
}

/** Values of which some have to be found before they can be sent. */
export class GivenValues {
  readonly #fields: Fields;
  readonly #kinds: ReadonlyMap<NameKind, string>;
  readonly #names = new Map<NameKind, string>();
  readonly #custom: Data = {};
  /** What is known without the server. */
  #body: Data = {};

  constructor(fields: Fields) {
    this.#fields = fields;
    this.#kinds = namedFields(fields);
  }

  add({ key, value }: { key: string; value: string }): void {
    const kind = [...this.#kinds.keys()].find((each) => each === key);
    const field = (kind && this.#kinds.get(kind)) ?? key;
    const isGiven = Object.hasOwn(this.#body, field) || this.#isNamed(field);
    if (isGiven) throw usageError(`"${field}" is given twice.`, 'use each field only once.');
    if (kind !== undefined && value !== '') this.#names.set(kind, value);
    else if (key.startsWith('custom.') && this.#fields.custom !== undefined)
      this.#addCustom(key.slice('custom.'.length), value);
    else this.#body[field] = this.#valueOf(field, value);
  }

  /** The same, once all are given. */
  whole(): this {
    if (Object.keys(this.#custom).length === 0) return this;
    if (this.#body.custom !== undefined)
      throw usageError('Use either custom or custom.key, not both.', 'remove one of them.');
    this.#body = { ...this.#body, custom: this.#custom };
    return this;
  }

  get isEmpty(): boolean {
    return Object.keys(this.#body).length === 0 && this.#names.size === 0;
  }

  /**
   * The values with the IDs of all that is named or has a short ID.
   * @param pipelineId finds the pipeline of a deal that is there already
   */
  async found(finder: IdFinder, pipelineId?: () => Promise<string>): Promise<Data> {
    const body: Data = {};
    for (const [name, value] of Object.entries(this.#body))
      body[name] = await this.#whole(name, value, finder);
    for (const [kind, text] of this.#names) {
      const field = this.#kinds.get(kind);
      if (field !== undefined && kind !== 'stage') body[field] = await finder.named(kind, text);
    }
    const stage = this.#names.get('stage');
    if (stage === undefined) return body;
    const pipeline = typeof body.pipeline_id === 'string' ? body.pipeline_id : await pipelineId?.();
    return { ...body, ...(await finder.stageOf(stage, pipeline)) };
  }

  #isNamed(field: string): boolean {
    return [...this.#names.keys()].some((kind) => this.#kinds.get(kind) === field);
  }

  #addCustom(key: string, value: string): void {
    if (Object.hasOwn(this.#custom, key))
      throw usageError(`"custom.${key}" is given twice.`, 'use each field only once.');
    this.#custom[key] = value || null;
  }

  #valueOf(name: string, text: string): JsonValue {
    const field = Object.hasOwn(this.#fields, name) ? this.#fields[name] : undefined;
    if (field === undefined) throw this.#unknown(name);
    const value = parseValue(name, field, text);
    const { kind, references = '' } = field;
    if (kind !== 'reference' || typeof value !== 'string' || isOurId(value)) return value;
    const hasShortIds = references !== 'users' && references !== 'stages';
    if (hasShortIds && idRangeOf(value) !== undefined) return value;
    throw this.#notAnId(name, value, references);
  }

  async #whole(name: string, value: JsonValue, finder: IdFinder): Promise<JsonValue> {
    const { kind, references = '' } = this.#fields[name] ?? {};
    if (kind === 'reference' && typeof value === 'string') return finder.wholeId(references, value);
    if (kind !== 'references' || !Array.isArray(value)) return value;
    const whole = value.map((id) => (typeof id === 'string' ? finder.wholeId(references, id) : id));
    return Promise.all(whole);
  }

  #unknown(name: string): CliError {
    const fields = Object.keys(this.#fields).map((field) => (field === 'custom' ? 'custom.KEY' : field));
    const known = [...fields, ...this.#kinds.keys()];
    return usageError(
      `"${name}" is not a field that you can set here.${didYouMean(name, known)}`,
      `use one or more of: ${known.join(', ')}.`,
    );
  }

  #notAnId(name: string, value: string, references: string): CliError {
    const kind = [...this.#kinds].find(([, field]) => field === name)?.[0];
    return usageError(
      `${name} needs the ID of ${withArticle(singularOf(references))}, and "${value}" is not an ID.`,
      ...(kind === undefined ? [] : [`write ${shellWord(`${kind}=${value}`)} to give the name.`]),
      `${commandForIds(references)}   (lists the IDs)`,
    );
  }
}

/** A value from the command line, converted to the type of its field; empty text is null. */
function parseValue(name: string, field: Field, text: string): JsonValue {
  if (text === '' && field.clearable) return null;
  if (text === '') throw emptyValue(name, field);
  const value = valueOfText(field, text, {
    day: (day) => dayOfWord(day, Date.now()) ?? day,
    instant: (instant) => parseInstant(name, instant),
  });
  if (value !== undefined) return value;
  throw usageError(
    `${name} ${textFault(name, field).message}.`,
    `use a value like ${name}=${exampleOf(field)}.`,
  );
}

function emptyValue(name: string, field: Field) {
  const { references, required } = field;
  const give =
    references === undefined
      ? `use a value like ${name}=${exampleOf(field)}`
      : `use the ID of ${withArticle(singularOf(references))} (to list them: ${commandForIds(references)})`;
  return usageError(`${name} cannot be empty.`, required ? `${give}.` : `${give}, or remove it.`);
}

function exampleOf({ example }: Field): string {
  return shellWord(typeof example === 'string' ? example : JSON.stringify(example));
}

function parseInstant(name: string, text: string): number {
  if (/^-?\d+$/.test(text)) return Number(text);
  const milliseconds = isoMilliseconds(dayOfWord(text, Date.now()) ?? text);
  if (milliseconds !== undefined) return milliseconds;
  const expected = 'Unix milliseconds, 2026-03-31, or 2026-03-31T09:00:00Z';
  throw usageError(`${name}: "${text}" is not ${expected}.`, `use ${expected}.`);
}
