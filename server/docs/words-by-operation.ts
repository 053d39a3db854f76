// The words by which the page finds an operation whose content it has not loaded.
import { setImmediate } from 'node:timers/promises';
import type { Entry, Version } from './entries.ts';
import type { SchemaShape } from './shapes.ts';
import { flatten, objectSchemas } from './words.ts';

const DEPTH_MAX = 8;
// Shorter ones say little, and are in almost every description.
const WORD = /[\p{L}\p{N}][\p{L}\p{N}_.-]{3,}/gu;

/** Names, and the words about each; operations share most names, so these words are kept once. */
export interface Words {
  /** By name, all words that any operation says about it. */
  told: Record<string, string>;
  /** By operation, its names, and the other words of its description. */
  operations: Record<string, [names: string, told: string]>;
}

/** The words of every operation. */
export async function wordsByOperation(versions: readonly Version[]): Promise<Words> {
  const told = new Map<string, Set<string>>();
  const operations: Words['operations'] = {};
  for (const entry of versions.flatMap(({ groups }) => groups.flatMap(({ entries }) => entries))) {
    const names = new Set<string>();
    for (const [name, text] of namedIn(entry)) {
      names.add(name);
      add(
        text,
        told.getOrInsertComputed(name, () => new Set()),
      );
    }
    const own = new Set<string>();
    add(entry.description, own);
    operations[entry.id] = [joined(names), joined(own.difference(names))];
    // In between, the service answers requests.
    await setImmediate();
  }
  return { told: Object.fromEntries([...told].map(([name, words]) => [name, joined(words)])), operations };
}

function add(text: string, words: Set<string>): void {
  for (const [word] of text.toLowerCase().matchAll(WORD)) words.add(word);
}

function joined(words: ReadonlySet<string>): string {
  return [...words].join(' ');
}

// Parameters, headers and fields at any depth, each in lower case with its description.
function namedIn({ parameters, body, successes }: Entry): [name: string, description: string][] {
  const headers = successes.flatMap(([, answer]) => Object.entries(answer.headers ?? {}));
  const contents = successes.flatMap(([, answer]) => Object.values(answer.content ?? {}));
  const schemas = [body?.schema, ...contents.map(({ schema }) => schema)].filter((one) => one !== undefined);
  return [
    ...parameters.map(({ name, description }): [string, string] => [name.toLowerCase(), description ?? '']),
    ...headers.map(([name, { description }]): [string, string] => [name.toLowerCase(), description ?? '']),
    ...schemas.flatMap((schema) => fieldsIn(schema)),
  ];
}

function fieldsIn(schema: SchemaShape, depth = 0): [name: string, description: string][] {
  if (depth === DEPTH_MAX) return [];
  return objectSchemas(schema).flatMap(({ properties = {} }) =>
    Object.entries(properties).flatMap(([name, one]): [string, string][] => [
      [name.toLowerCase(), flatten(one).schema.description ?? ''],
      ...fieldsIn(one, depth + 1),
    ]),
  );
}
