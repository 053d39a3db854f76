// Named parts of the document: each appears once among the components and is referenced where it is used.
import { type Data, isObject, type JsonValue } from '../../db/model/json.ts';
import { openObject } from './open-objects.ts';
import { typedEnum } from './typed-enums.ts';

const SCHEMAS = '#/components/schemas/';

/** Marks a part of the document as a component of that kind; schemas carry their names themselves. */
export function component(kind: 'headers' | 'parameters' | 'responses', name: string, part: Data): Data {
  return { $id: `#/components/${kind}/${name}`, ...part };
}

/**
 * Makes the function that replaces named parts (those with `$id`) by references, and puts the parts under `components`, by
 * kind and name. It throws an Error if two different parts have the same name.
 */
export function hoistInto(components: Data): (value: JsonValue) => JsonValue {
  // Operations share most of their parts, and each part is thousands of times in them.
  const references = new WeakMap<Data, Data>();
  const texts = new Map<string, string>();

  function keep(ref: string, part: Data): void {
    const text = JSON.stringify(part);
    const other = texts.get(ref);
    if (other !== undefined && other !== text)
      throw new Error(`two parts of the document have the name ${ref}`);
    if (other !== undefined) return;
    texts.set(ref, text);
    const [, , kind = '', name = ''] = ref.split('/');
    const ofKind = isObject(components[kind]) ? components[kind] : {};
    components[kind] = ofKind;
    ofKind[name] = part;
  }

  function hoist(value: JsonValue): JsonValue {
    if (Array.isArray(value)) return value.map(hoist);
    if (!isObject(value)) return value;
    const known = references.get(value);
    if (known !== undefined) return known;
    const { $id, ...own } = value;
    const entries = Object.entries(own).map(([key, item]) => [key, hoist(item)]);
    const part = openObject(typedEnum(Object.fromEntries(entries)));
    if (typeof $id !== 'string') return part;
    const $ref = $id.startsWith('#') ? $id : SCHEMAS + $id;
    keep($ref, part);
    const reference = { $ref };
    references.set(value, reference);
    return reference;
  }
  return hoist;
}
