// Enums that allow null, written so that the code of client generators does too.
import type { Data, JsonValue } from '../../db/model/json.ts';

/** Writes the types of such an enum beside its values: without them, generators such as hey-api and orval 7 drop the null. */
export function typedEnum(schema: Data): Data {
  const { enum: values, type } = schema;
  if (!Array.isArray(values) || !values.includes(null) || type !== undefined) return schema;
  return { type: [...new Set(values.map(typeName))], ...schema };
}

function typeName(value: JsonValue): string {
  return value === null ? 'null' : typeof value;
}
