// Named parts of the document: each appears once among the components and is referenced where it is used.
import { type Data, isObject, type JsonValue } from '../../db/model/json.ts';
import { openObject } from './open-objects.ts';

const SCHEMAS = '#/components/schemas/';

/** Marks a part of the document as a component of that kind; schemas carry their names themselves. */
export function component(kind: 'headers' | 'parameters' | 'responses', name: string, part: Data): Data {
  return { $id: `#/components/${kind}/${name}`, ...part };
}

/**
 * Replaces named parts (those with `$id`) by references, and puts the parts under `components`, by kind and name.
 * @throws Error if two different parts have the same name
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
    throw new Error(`two parts of the document have the name ${ref}`);
  ofKind[name] = part;
}
