// A client of v1 for tests, with v2 at its side: short ways to send, and to say what an answer must be.
import { expect } from 'bun:test';
import { expectEnvelope, expectRefusal } from './envelope.ts';
import type { Harness, Json, Reply } from './harness.ts';

export interface V1Client {
  v1(method: string, path: string, body?: Json, key?: string): Promise<Reply>;
  v2(method: string, path: string, body?: Json): Promise<Reply>;
  /** What a GET shows. */
  shown(path: string): Promise<Json>;
}

/** A client with the organization's own keys. */
export function v1ClientOf({ send }: Pick<Harness, 'send'>): V1Client {
  const v1: V1Client['v1'] = (method, path, body, key) => send(method, `/api/v1${path}`, { body, key });
  return {
    v1,
    v2: (method, path, body) => send(method, `/api/v2${path}`, { body }),
    shown: async (path) => dataOf(await v1('GET', path), 200),
  };
}

/** The data of an answer that must have that status, in a whole envelope. */
export function dataOf(reply: Reply, status: number): Json {
  expect([reply.status, reply.body?.error]).toEqual([status, undefined]);
  expectEnvelope(reply, 'success', '1');
  return reply.body.data;
}

/** Asserts an error whose faults, at these paths, all have its code. */
export function refusedAs(reply: Reply, status: number, code: string, ...paths: string[]): Json {
  const faults = paths.length === 0 ? undefined : paths.map((path): [string, string] => [path, code]);
  return expectRefusal(reply, status, code, faults, '1');
}

/** A v1 key of the harness's other organization, with every scope. */
export async function foreignKey(harness: Harness): Promise<string> {
  return (await harness.issue({ api: 'v1', orgNumber: harness.otherOrgNumber })).key;
}

let names = 0;

/** A name that no test has used yet. */
export function uniqueName(name: string): string {
  names += 1;
  return `${name}-${names}`;
}

/** An address that no test has used yet. */
export function mail(name = 'p'): string {
  return `${uniqueName(name)}@people.test`;
}

/** Every field of a person but the emails. */
export const WHOLE_PERSON = {
  firstName: 'Ada',
  lastName: 'Lovelace',
  title: 'Countess',
  phone: '+44 20 7946 0000',
  personalPhone: '+44 7700 900000',
  linkedin: 'in/ada',
  twitter: '@ada',
  facebook: 'ada',
  instagram: '@ada.l',
  whatsapp: '+44 7700 900001',
  remarks: 'Met at the Society.',
};

export interface People {
  /** Creates a person, with an address of its own unless given, and gives it. */
  create(fields?: Json): Promise<Json>;
  upsert(fields: Json): Promise<Json>;
}

/** Ways to make people that must succeed. */
export function peopleOf({ v1 }: V1Client): People {
  return {
    create: async (fields = {}) => {
      const least = { type: 'email', identifier: mail(), firstName: 'Ada' };
      return dataOf(await v1('POST', '/people', { ...least, ...fields }), 201);
    },
    upsert: async (fields) => dataOf(await v1('PUT', '/people', fields), 200),
  };
}

export interface Interactions {
  /** The id of the contact that interactions are with unless they say otherwise. */
  contact: string;
  send(fields?: Json, key?: string): Promise<Reply>;
  /** Creates an interaction, which must succeed, and gives it. */
  log(fields?: Json): Promise<Json>;
}

export const LEAST_INTERACTION = { type: 'EMAIL', direction: 'INBOUND', title: 'Hello' };

/** Makes main@contact.test, and ways to log interactions with it. */
export async function interactionsOf({ v1, v2 }: V1Client): Promise<Interactions> {
  const contact: string = (await v2('POST', '/contacts', { email: 'main@contact.test' })).body.data.id;
  const send: Interactions['send'] = (fields = {}, key) =>
    v1('POST', '/interactions', { ...LEAST_INTERACTION, mainContact: contact, ...fields }, key);
  return { contact, send, log: async (fields) => dataOf(await send(fields), 201) };
}
