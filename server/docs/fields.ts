// Lists of fields: name, type, description, limits and example of each, with nested fields below.
import type { JsonValue } from '../../db/model/json.ts';
import { NOT_BLANK } from '../../db/model/text.ts';
import { type Html, html } from './html.ts';
import { markdown } from './markdown.ts';
import { examplesOf, type Parameter, type SchemaShape } from './shapes.ts';
import { flatten, hasFields, limitsOf, objectSchemas, typeOf, valuesOf } from './words.ts';

const DEPTH_MAX = 8;
// The field that holds the record, which readers of a response look for.
const OPENED = 'data';
const BELOW_LEVEL = 5;

/** Who writes the fields: the client, which must know what is required, or the service, which can leave fields out. */
export type WrittenBy = 'client' | 'service';

interface Field {
  name: string;
  schema: SchemaShape;
  isRequired: boolean;
  description?: string;
  example?: JsonValue;
}

/** The fields of an object; for a list or a choice, its type and the fields of the objects in it. */
export function fieldList(schema: SchemaShape, writer: WrittenBy, depth = 0): Html {
  const { schema: whole } = flatten(schema);
  const lists = objectSchemas(whole).map((object) => list(ownFields(object), { writer, depth }));
  if (hasFields(whole)) return html`${lists}`;
  return html`<p class="kind">${typeOf(schema)}</p>${traits({ name: '', schema, isRequired: false })}${lists}`;
}

/** The parameters of an operation, or the headers of a response, as a list of fields. */
export function parameterList(parameters: readonly Parameter[], writer: WrittenBy): Html {
  const fields = parameters.map((parameter) => ({
    name: parameter.name,
    schema: parameter.schema ?? {},
    isRequired: parameter.required === true,
    description: parameter.description,
    example: examplesOf(parameter)[0],
  }));
  return list(fields, { writer, depth: 0 });
}

function ownFields({ properties = {}, required = [], additionalProperties }: SchemaShape): Field[] {
  const fields = Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    isRequired: required.includes(name),
  }));
  if (typeof additionalProperties !== 'object') return fields;
  return [...fields, { name: 'any other name', schema: additionalProperties, isRequired: false }];
}

interface Context {
  writer: WrittenBy;
  depth: number;
}

function list(fields: readonly Field[], context: Context): Html {
  return html`<dl class="fields">${fields.map((field) => item(field, context))}</dl>`;
}

function item(field: Field, context: Context): Html {
  const { name, schema } = field;
  const text = field.description ?? flatten(schema).schema.description;
  const heading = html`<code>${name}</code> <span class="type">${typeOf(schema)}</span>${presence(field, context.writer)}`;
  const meaning = text === undefined ? undefined : markdown(text, BELOW_LEVEL);
  return html`<div><dt>${heading}</dt><dd>${meaning}${traits(field)}${inside(field, context)}</dd></div>`;
}

function presence({ isRequired }: Field, writer: WrittenBy): Html | undefined {
  if (writer === 'client') return isRequired ? html` <span class="required">required</span>` : undefined;
  return isRequired ? undefined : html` <span class="type">optional</span>`;
}

// The nested fields, folded unless they are the record itself.
function inside({ name, schema }: Field, { writer, depth }: Context): Html | undefined {
  const { schema: whole } = flatten(schema);
  const objects = objectSchemas(whole);
  if (objects.length === 0 || depth >= DEPTH_MAX) return undefined;
  return html`${objects.map((object) => {
    const count = Object.keys(object.properties ?? {}).length;
    const title = count === 0 ? 'values' : `${count} ${count === 1 ? 'field' : 'fields'} of ${name}`;
    const state = depth === 0 && name === OPENED ? ' open' : '';
    return html`<details class="inside"${state}><summary>${title}</summary>${fieldList(object, writer, depth + 1)}</details>`;
  })}`;
}

function traits({ schema, example }: Field): Html | undefined {
  const { schema: whole } = flatten(schema);
  const values = valuesOf(schema);
  const shown = example ?? examplesOf({ schema: whole })[0];
  // The example adds nothing to what is already listed.
  const isPlain = values.length > 0 || typeof shown === 'boolean' || shown === whole.default;
  const parts = [
    values.length > 0
      ? html`${values.length > 1 ? 'one of' : 'always'} ${separated(values.map(code))}`
      : undefined,
    ...limitsOf(schema).map((limit) => html`${limit}`),
    patternIn(whole),
    whole.default === undefined ? undefined : html`default ${code(whole.default)}`,
    shown === undefined || isPlain ? undefined : html`for example ${code(shown)}`,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : html`<p class="traits">${separated(parts, ' · ')}</p>`;
}

function patternIn({ pattern }: SchemaShape): Html | undefined {
  if (pattern === undefined) return undefined;
  return pattern === NOT_BLANK ? html`not blank` : html`matches ${code(pattern)}`;
}

function separated(parts: readonly Html[], by = ', '): Html {
  return html`${parts.map((part, index) => (index === 0 ? part : html`${by}${part}`))}`;
}

function code(value: JsonValue): Html {
  return html`<code>${typeof value === 'string' ? value : JSON.stringify(value)}</code>`;
}
