// What people call a record.
import type { Data, JsonValue } from '../../db/model/json.ts';

/** What a person would call a record; null if nothing of it says. */
export function nameOf(record: Data): string | null {
  const { first_name, last_name, name, title, email, phone, domain, content } = record;
  const person = [first_name, last_name].filter(isText).join(' ');
  // The title of a person is not a name: two can have the same.
  const others = first_name === undefined ? [name, title, email, domain, content] : [email, phone, title];
  return [person, ...others].find(isText) ?? null;
}

/** Whether a value is text that says something. */
export function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== '';
}
