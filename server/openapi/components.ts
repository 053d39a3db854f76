// Named parts of the document: each stands once among the components, with a reference wherever it is used.
import { type Data, isObject, type JsonValue } from '../../db/model/json.ts';
import { openObject } from './open-objects.ts';

const SCHEMAS = '#/components/schemas/';

/** A part of the document that is to stand among its components of that kind; schemas say their names themselves. */
export function component(kind: 'headers' | 'parameters' | 'responses', name: string, part: Data): Data {
  return { $id: `#/components/${kind}/${name}`, ...part };
}

/**
 * Puts references in the place of named parts, `$id`, and the parts under `components`, by kind and name.
 * @throws Error if two different parts have one name
 */
export function hoist(value: JsonValue, components: Data): JsonValue {
  if (Array.isArray(value)) return value.map((item) => hoist(item, components));
  if (!isObject(value)) return value;
  const { $id, ...own } = value;
  const entries = Object.entries(own).map(([key, item]) => [key, hoist(item, components)]);
  const part = openObject(Object.fromEntries(entries));
  if (typeof $id !== 'string') return part;
  const $ref = $id.startsWith('#') ? $id : SCHEMAS + $id;
  keep(components, $ref, part);
  return { $ref };
}

function keep(components: Data, ref: string, part: Data): void {
  const [, , kind = '', name = ''] = ref.split('/');
  const ofKind = isObject(components[kind]) ? components[kind] : {};
  components[kind] = ofKind;
  const other = ofKind[name];
  if (other !== undefined && JSON.stringify(other) !== JSON.stringify(part))
    throw new Error(`two parts of the document are called ${ref}`);
  ofKind[name] = part;
}
