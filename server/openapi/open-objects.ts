// Objects with declared and additional properties, written so that the code of client generators compiles.
import { type Data, isObject, type JsonValue } from '../../db/model/json.ts';

/**
 * Writes the object as an `allOf` of its declared properties and of its additional ones. Side by side, generators such as
 * orval 7 make an index signature of the additional ones, which conflicts with an optional property: it can be undefined.
 * If a declared property allows values that additional ones do not, the two differ in meaning and the object is unchanged.
 */
export function openObject(schema: Data): Data {
  const { properties, additionalProperties: others, propertyNames, ...rest } = schema;
  if (!isObject(properties) || !isObject(others)) return schema;
  const declared = Object.values(properties);
  if (declared.length === 0 || !declared.every((one) => isObject(one) && isWithin(one, others)))
    return schema;
  const names: Data = propertyNames === undefined ? {} : { propertyNames };
  return {
    allOf: [
      { ...rest, properties },
      { type: 'object', ...names, additionalProperties: others },
    ],
  };
}

function isWithin(one: Data, others: Data): boolean {
  const types = listOf(others.type);
  const isOfType = listOf(one.type).every((type) => types.includes(type));
  const most = others.maxLength;
  return isOfType && (typeof most !== 'number' || Number(one.maxLength ?? Number.POSITIVE_INFINITY) <= most);
}

function listOf(type: JsonValue | undefined): JsonValue[] {
  return Array.isArray(type) ? type : type === undefined ? ['any'] : [type];
}
