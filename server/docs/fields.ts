// Lists of fields: name, type, meaning, limits and example of each, with the fields inside it below.
import type { JsonValue } from '../../db/declare/json.ts';
import { type Html, html } from './html.ts';
import { markdown } from './markdown.ts';
import type { Parameter, Schema } from './shapes.ts';
import { examplesOf } from './shapes.ts';
import { flatten, limitsOf, typeOf, valuesOf } from './words.ts';

const DEPTH_MAX = 8;
// What a record is in: whoever opens an answer is after this.
const OPENED = 'data';
const BELOW_LEVEL = 5;

interface Field {
  name: string;
  schema: Schema;
  isRequired: boolean;
  description?: string;
  example?: JsonValue;
}

/** The fields of an object; of a list or a choice, what it is and the fields of the objects in it. */
export function fieldList(schema: Schema, depth = 0): Html {
  const { schema: whole } = flatten(schema);
  const lists = objectsIn(whole).map(
    (object) => html`<dl class="fields">${ownFields(object).map((one) => item(one, depth))}</dl>`,
  );
  if (hasFields(whole)) return html`${lists}`;
  return html`<p class="kind">${typeOf(schema)}</p>${traits({ name: '', schema, isRequired: false })}${lists}`;
}

function ownFields({ properties = {}, required = [], additionalProperties }: Schema): Field[] {
  const fields = Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    isRequired: required.includes(name),
  }));
  if (typeof additionalProperties !== 'object') return fields;
  return [...fields, { name: 'any other name', schema: additionalProperties, isRequired: false }];
}

/** The parameters of an operation as a list of fields. */
export function parameterList(parameters: readonly Parameter[]): Html {
  const fields = parameters.map((parameter) => ({
    name: parameter.name,
    schema: parameter.schema ?? {},
    isRequired: parameter.required === true,
    description: parameter.description,
    example: examplesOf(parameter)[0]?.value,
  }));
  return html`<dl class="fields">${fields.map((field) => item(field, 0))}</dl>`;
}

function item(field: Field, depth: number): Html {
  const { name, schema, isRequired } = field;
  const { schema: whole } = flatten(schema);
  const text = field.description ?? whole.description;
  return html`<div><dt><code>${name}</code> <span class="type">${typeOf(schema)}</span>${
    isRequired ? html` <span class="required">required</span>` : undefined
  }</dt><dd>${text === undefined ? undefined : markdown(text, BELOW_LEVEL)}${traits(field)}${inside(
    field,
    depth,
  )}</dd></div>`;
}

// The fields inside a field, folded away unless they are what one came for.
function inside({ name, schema }: Field, depth: number): Html | undefined {
  const { schema: whole } = flatten(schema);
  const objects = objectsIn(whole);
  if (objects.length === 0 || depth >= DEPTH_MAX) return undefined;
  return html`${objects.map((object) => {
    const count = Object.keys(object.properties ?? {}).length;
    const title = count === 0 ? 'its values' : `${count} ${count === 1 ? 'field' : 'fields'} of ${name}`;
    const state = depth === 0 && name === OPENED ? ' open' : '';
    return html`<details class="inside"${state}><summary>${title}</summary>${fieldList(object, depth + 1)}</details>`;
  })}`;
}

function objectsIn(schema: Schema): Schema[] {
  const { schema: whole } = flatten(schema);
  if (hasFields(whole)) return [whole];
  return [...(whole.anyOf ?? []), ...(whole.items === undefined ? [] : [whole.items])].flatMap(objectsIn);
}

function hasFields({ properties, additionalProperties }: Schema): boolean {
  return properties !== undefined || typeof additionalProperties === 'object';
}

function traits({ schema, example }: Field): Html | undefined {
  const { schema: whole } = flatten(schema);
  const values = valuesOf(schema);
  const shown = example ?? examplesOf({ schema: whole })[0]?.value;
  const parts = [
    values.length > 0
      ? html`${values.length > 1 ? 'one of' : 'always'} ${separated(values.map(code))}`
      : undefined,
    ...limitsOf(schema).map((limit) => html`${limit}`),
    whole.pattern === undefined ? undefined : html`matches <code>${whole.pattern}</code>`,
    whole.default === undefined ? undefined : html`default ${code(whole.default)}`,
    shown === undefined || values.length > 0 ? undefined : html`for example ${code(shown)}`,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : html`<p class="traits">${separated(parts, ' · ')}</p>`;
}

function separated(parts: readonly Html[], by = ', '): Html {
  return html`${parts.map((part, index) => (index === 0 ? part : html`${by}${part}`))}`;
}

function code(value: JsonValue): Html {
  return html`<code>${typeof value === 'string' ? value : JSON.stringify(value)}</code>`;
}
