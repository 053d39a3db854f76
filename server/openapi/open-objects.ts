// Objects with declared properties and others beside them, written so that clients' generators can compile them.
import { type Data, isObject, type JsonValue } from '../../db/model/json.ts';

/**
 * The same object as what its properties say and what every property must be, one after the other. Side by side, generators
 * make an index signature of the others (orval 7 does), which an optional property beside it breaks: it may be undefined.
 * Where a declared property may be what others may not, the two do not mean the same, and the object stays as it is.
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
