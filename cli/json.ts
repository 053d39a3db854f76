// What a parsed JSON value is.
import type { Data, JsonValue } from '../db/declare/fields.ts';

/** Whether a value is an object with keys, neither null nor an array. */
export function isObject(value: JsonValue | undefined): value is Data;
export function isObject(value: unknown): value is Record<string, unknown>;
export function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
