// The type of a parsed JSON value.

export type JsonScalar = string | number | boolean | null;
export type JsonValue = JsonScalar | JsonValue[] | { [key: string]: JsonValue };
export type Data = { [field: string]: JsonValue };

/** Whether a value is an object with keys, not null or an array. */
export function isObject(value: JsonValue | undefined): value is Data;
export function isObject(value: unknown): value is Record<string, unknown>;
export function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
