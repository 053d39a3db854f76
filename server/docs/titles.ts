// What a response contains, as the title above its example.
import type { SchemaShape } from './shapes.ts';
import { flatten, valuesOf } from './words.ts';

/** The content of the envelope: `Contact`, `Contact list`, `Batch result`. */
export function answerTitle(type: string, schema: SchemaShape): string {
  if (type === 'text/event-stream') return 'Events';
  const { object = {}, data = {} } = flatten(schema).schema.properties ?? {};
  if (valuesOf(object).includes('batch')) return 'Batch result';
  const { schema: whole } = flatten(data);
  const { component } = whole;
  if (component !== undefined) return spoken(component);
  const item = whole.items === undefined ? undefined : flatten(whole.items).schema.component;
  return item === undefined ? 'Response' : `${spoken(item)} list`;
}

// A component name as words, without its version and without how it was made: `V1Person`, `ContactUpsertAnswer`.
function spoken(component: string): string {
  const words = component.replace(/^V\d+/, '').replace(/(Upsert|Create|Link)(Answer|Result)$/, '');
  const spaced = words.replaceAll(/(?<=.)[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return spaced.replace(/ id$/, ' ID');
}
