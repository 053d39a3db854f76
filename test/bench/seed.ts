// What is there before anything is measured, the same on every server; made through batches.
import type { Build, Running } from './servers.ts';

/** Ids of what was made, by what it is. */
export interface Seeds {
  contacts: string[];
  companies: string[];
  users: string[];
  deals: string[];
  stages: string[];
  segments: string[];
}

type Body = Record<string, unknown>;

const BATCH = 100;
const REQUESTS_AT_ONCE = 4;
/** So many contacts have a company in common, and so on: what a filter finds fills a page of 100. */
const PER_COMPANY = 100;
const CONTACTS_PER_OTHER = 10;
const MEMBERS = 100;
const INTERACTIONS_PER_CONTACT = 100;

let serial = 0;

/** A number that no other body of this run has. */
export function nextSerial(): number {
  serial += 1;
  return serial;
}

/** An address for a number, of the same length for each; as good as random, so that an index is met everywhere. */
export function addressOf(number: number): string {
  // 2^32 over the golden ratio, which is odd: each number has a product of its own.
  return `${(Math.imul(number, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0')}@bench.example`;
}

/** What a create sends. */
export function newContact(): string {
  const number = nextSerial();
  const digits = String(number).padStart(8, '0');
  return `{"email":"${addressOf(number)}","first_name":"First${digits}","last_name":"Last${digits}","title":"Engineer"}`;
}

/** Fills an empty database with `count` contacts and a tenth as many of each other kind. */
export async function seed(server: Running, { users }: Build, count: number): Promise<Seeds> {
  const at = <T>(list: readonly T[], index: number): T | undefined => list[index % list.length];
  const others = Math.ceil(count / CONTACTS_PER_OTHER);
  const create = (resource: string, total: number, body: (index: number) => Body) =>
    createAll(server, resource, total, body);
  const companies = await create('companies', Math.ceil(count / PER_COMPANY), (index) => ({
    name: `Company ${index}`,
    domain: `company${index}.example`,
  }));
  const contacts = await create('contacts', count, (index) => ({
    ...(JSON.parse(newContact()) as Body),
    phone: phoneOf(index),
    company_id: at(companies, index),
    owner_id: at(users, index),
    custom: { plan: 'navy', seats: 12 },
  }));
  const stages = await stagesOf(server);
  const deals = await create('deals', others, (index) => ({
    name: `Deal ${index}`,
    stage_id: at(stages, index),
    owner_id: at(users, index),
  }));
  await create('tasks', others, (index) => ({ name: `Task ${index}`, main_assignee_id: at(users, index) }));
  await create('interactions', others, (index) => ({
    type: 'EMAIL',
    direction: 'OUTBOUND',
    title: `Message ${index}`,
    main_contact: contacts[Math.floor(index / INTERACTIONS_PER_CONTACT)],
  }));
  const segments = await create('segments', 1, () => ({ name: 'Newsletter' }));
  for (const contact of contacts.slice(0, MEMBERS))
    await send(server, `segments/${segments[0]}/members`, { record_id: contact });
  return { contacts, companies, users, deals, stages, segments };
}

/** The number under which a contact of the seeds is found. */
export function phoneOf(index: number): string {
  return `+49 30 ${String(index).padStart(8, '0')}`;
}

async function createAll(
  server: Running,
  resource: string,
  total: number,
  body: (index: number) => Body,
): Promise<string[]> {
  const ids: string[] = [];
  const batches = Math.ceil(total / BATCH);
  let next = 0;
  const work = async () => {
    while (next < batches) {
      const first = next++ * BATCH;
      const items = Array.from({ length: Math.min(BATCH, total - first) }, (_, index) => body(first + index));
      const { data } = await send(server, `${resource}/batch`, items);
      for (const [index, item] of data.items.entries()) ids[first + index] = item.data.id;
    }
  };
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, work));
  return ids;
}

async function stagesOf(server: Running): Promise<string[]> {
  const response = await fetch(`http://127.0.0.1:${server.port}/api/v2/pipelines`, {
    headers: { Authorization: `Bearer ${server.key}` },
  });
  const { data } = (await response.json()) as { data: { stages: { id: string }[] }[] };
  return data[0]?.stages.map(({ id }) => id) ?? [];
}

async function send(server: Running, path: string, body: unknown): Promise<BatchAnswer> {
  const response = await fetch(`http://127.0.0.1:${server.port}/api/v2/${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${server.key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok || text.includes('"status":"failed"')) throw new Error(`seeding ${path} failed: ${text}`);
  return JSON.parse(text) as BatchAnswer;
}

interface BatchAnswer {
  data: { items: { data: { id: string } }[] };
}
