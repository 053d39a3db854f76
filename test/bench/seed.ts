// What is there before anything is measured, the same on every server; made through batches.
import { ask } from './client.ts';
import type { Running } from './servers.ts';

/** Ids of what was made, by what it is. */
export interface Seeds {
  contacts: string[];
  companies: string[];
  users: string[];
  deals: string[];
  stages: string[];
  segments: string[];
  /** The contacts that there are interactions with. */
  spokenTo: string[];
}

type Body = Record<string, unknown>;

const BATCH = 100;
const REQUESTS_AT_ONCE = 4;
/** So many contacts have a company in common, and so on: what a filter finds fills a page of 100. */
const PER_COMPANY = 100;
const CONTACTS_PER_OTHER = 10;
const MEMBERS = 100;
const INTERACTIONS_PER_CONTACT = 100;

// The numbers of the seeds are below.
let serial = 100_000_000;

/** A number that nothing else in this run has. */
export function nextSerial(): number {
  serial += 1;
  return serial;
}

/** An address for a number; in order, so that the pages of an index, which cost all servers alike, cost least. */
export function addressOf(number: number): string {
  return `p${String(number).padStart(9, '0')}@bench.example`;
}

/** A telephone number for a number. */
export function phoneOf(number: number): string {
  return `+49 30 ${String(number).padStart(9, '0')}`;
}

/** Fills an empty database with `count` contacts and a tenth as many of each other kind. */
export async function seed(server: Running, count: number): Promise<Seeds> {
  const { users } = server.build;
  const at = <T>(list: readonly T[], index: number): T | undefined => list[index % list.length];
  const others = Math.ceil(count / CONTACTS_PER_OTHER);
  const create = (resource: string, total: number, body: (index: number) => Body) =>
    createAll(server, resource, total, body);
  const companies = await create('companies', Math.ceil(count / PER_COMPANY), (index) => ({
    name: `Company ${index}`,
    domain: `company${index}.example`,
  }));
  const contacts = await create('contacts', count, (index) => ({
    email: addressOf(index),
    first_name: `First${index}`,
    last_name: `Last${index}`,
    title: 'Engineer',
    phone: phoneOf(index),
    company_id: at(companies, index),
    owner_id: at(users, index),
    custom: { plan: 'navy', seats: 12 },
  }));
  const stages = await openStages(server);
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
  const spokenTo = contacts.slice(0, Math.ceil(others / INTERACTIONS_PER_CONTACT));
  const segments = await create('segments', 1, () => ({ name: 'Newsletter' }));
  for (const contact of contacts.slice(0, MEMBERS))
    await ask(server, 'POST', `segments/${segments[0]}/members`, {
      body: JSON.stringify({ record_id: contact }),
    });
  return { contacts, companies, users, deals, stages, segments, spokenTo };
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
      const answer = await ask(server, 'POST', `${resource}/batch`, { body: JSON.stringify(items) });
      for (const [index, { status, data }] of (answer as BatchAnswer).data.items.entries()) {
        if (status !== 'created') throw new Error(`seeding ${resource} failed: ${JSON.stringify(answer)}`);
        ids[first + index] = data.id;
      }
    }
  };
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, work));
  return ids;
}

async function openStages(server: Running): Promise<string[]> {
  const { data } = (await ask(server, 'GET', 'pipelines')) as PipelinesAnswer;
  return data.flatMap(({ stages }) => stages.filter(({ type }) => type === 'open').map(({ id }) => id));
}

interface PipelinesAnswer {
  data: { stages: { id: string; type: string }[] }[];
}

interface BatchAnswer {
  data: { items: { status: string; data: { id: string } }[] };
}
