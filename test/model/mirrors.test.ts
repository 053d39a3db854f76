// Copies that follow the feed are exact after writes of any kind, and whatever the operator does in between.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createOrganization, createUser } from '../../db/accounts/accounts.ts';
import { ingestBookings } from '../../db/ingest/bookings.ts';
import { ingestMeetings } from '../../db/ingest/meetings.ts';
import { ingestRecordings } from '../../db/ingest/recordings.ts';
import { erasePerson } from '../../db/people/erase.ts';
import { findPerson } from '../../db/people/person.ts';
import { purgeChanges, setChangesDays } from '../../db/removal/change-retention.ts';
import { oneOf, Writes } from '../soak/feed/writes.ts';
import { ChangeMirror, FeedRefusal, listsOf } from '../support/change-mirror.ts';
import { isPostgres } from '../support/fresh-databases.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { readBookings, readMeetings, readRecordings } from '../support/ingest-readers.ts';
import { type Random, randomNumbers } from '../support/random.ts';
import { type Client, clientOf } from '../support/v2.ts';

const SEEDS = Number(process.env.MIRROR_SEEDS ?? (isPostgres ? 1 : 4));
const STEPS = Number(process.env.MIRROR_STEPS ?? 150);
const FIRST_SEED = Number(process.env.MIRROR_FIRST_SEED ?? 1);
const COMPARED_EVERY = 10;
// Of 100 steps.
const OPERATOR_STEPS = 12;
const DAY_MS = 24 * 60 * 60 * 1_000;
const DAYS = 30;
const PEOPLE = 40;
const LONG = 3_600_000;

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

/** An organization of one run, and those who follow its feed. */
interface Run {
  random: Random;
  orgNumber: number;
  orgId: string;
  users: string[];
  /** To everything. */
  key: string;
  client: Client;
  followers: { client: Client; mirror: ChangeMirror }[];
  log: string[];
}

async function start(seed: number): Promise<Run> {
  const { store, clock } = harness;
  const org = await store.write('accounts', (trx) => createOrganization(trx, `Mirrors ${seed}`, clock.now));
  const users: string[] = [];
  for (const name of ['alice', 'bob']) {
    const user = { orgNumber: org.number, email: `${name}@x.example`, name: null, now: clock.now };
    users.push((await store.write('accounts', (trx) => createUser(trx, user))).id);
  }
  const { key } = await harness.issue({ orgNumber: org.number });
  const client = clientOf(harness, key);
  const own = clientOf(harness, (await harness.issue({ orgNumber: org.number, userId: users[0] ?? '' })).key);
  const followers = [client, own].map((one, index) => ({
    client: one,
    mirror: new ChangeMirror(one, index > 0),
  }));
  const { id: orgId, number: orgNumber } = org;
  return { random: randomNumbers(seed), orgNumber, orgId, users, key, client, followers, log: [] };
}

/** What an operator does. */
const OPERATIONS: ((run: Run) => Promise<void>)[] = [
  async ({ orgNumber, orgId, users, random }) => {
    const ownerId = oneOf([...users, null], random);
    const options = { orgNumber, createdBy: orgId, ownerId, clock: () => harness.clock.now };
    const number = Math.floor(random() * 6);
    const attendees = [{ name: 'A', email: emailOf(random) }];
    const times = { start_time: 1_767_225_600_000 + number, attendees };
    const meeting = { external_id: `m${number}`, title: `M ${random()}`, ...times };
    const meetings = await readMeetings(JSON.stringify([meeting]));
    await ingestMeetings(harness.store, options, meetings.entries);
    const speech = {
      speaker: { name: 'A', email: emailOf(random) },
      start_time: 0,
      end_time: 1,
      speech: 'Yes.',
    };
    const recording = { external_id: `r${number}`, meeting_external_id: `m${number}`, segments: [speech] };
    const recordings = await readRecordings(JSON.stringify([{ ...recording, title: `R ${random()}` }]));
    await ingestRecordings(harness.store, options, recordings.entries);
    const booking = { external_id: `b${number}`, title: `B ${random()}`, status: 'booked' };
    const bookings = await readBookings(JSON.stringify([booking]));
    await ingestBookings(harness.store, options, bookings.entries);
  },
  async ({ orgNumber, client, random }) => {
    const email = emailOf(random);
    // With a link, which the log then does not name any more.
    const [contact] = await client.all(`/contacts?email=${email}`);
    const note = contact && (await client.create('notes'));
    const record = { record_type: 'contact', record_id: contact?.id };
    if (note !== undefined) await client.post(`/notes/${note.id}/records`, record);
    const person = await findPerson(harness.store.read, orgNumber, email);
    const options = { isDryRun: false, onProgress: () => undefined, finish: async () => undefined };
    await erasePerson(harness.store, person, options);
  },
  // Those who have read everything miss nothing by it.
  async () => {
    harness.clock.now += (DAYS / 3) * DAY_MS;
    await purgeChanges(harness.store, harness.clock.now);
  },
  async ({ client, followers }) => {
    await keepChanges(0);
    await client.create('tasks', { name: 'Not in the log' });
    for (const { mirror } of followers) expect(await refusal(mirror)).toBe(404);
    await keepChanges(DAYS);
    for (const { client: own, mirror } of followers) {
      expect(await refusal(mirror)).toBe(422);
      await mirror.copy(listsOf(own));
    }
  },
];

const emailOf = (random: Random) => `upserted-${Math.floor(random() * PEOPLE)}@load.example`;

const keepChanges = (days: number) => harness.store.write('accounts', (trx) => setChangesDays(trx, days));

/** The status with which the feed refuses to go on; null if it does not. */
async function refusal(mirror: ChangeMirror): Promise<number | null> {
  try {
    await mirror.follow();
    return null;
  } catch (error) {
    if (error instanceof FeedRefusal) return error.status;
    throw error;
  }
}

async function step(run: Run, writes: Writes): Promise<void> {
  const { random, key, log } = run;
  if (random() * 100 < OPERATOR_STEPS) {
    const index = Math.floor(random() * OPERATIONS.length);
    log.push(`operation ${index}`);
    await OPERATIONS[index]?.(run);
    return;
  }
  const write = writes.draw(random);
  if (write === null) return;
  const { method, path, body } = write;
  log.push(`${method} ${path} ${JSON.stringify(body)}`);
  const reply = await harness.send(method, `/api/v2${path}`, { key, body });
  if (reply.status >= 500) throw new Error(`${method} ${path}: ${reply.text}`);
  if (reply.status < 300) writes.note(write, reply.body?.data);
}

async function follow(seed: number): Promise<void> {
  const run = await start(seed);
  const writes = new Writes(`mirrored ${seed}`, run.users);
  const { client, followers, log, random } = run;
  // Reads seldom, and has its place in the feed removed at times.
  const late = new ChangeMirror(client, false);
  await late.copy(listsOf(client));
  try {
    for (let number = 0; number < STEPS; number++) {
      await step(run, writes);
      for (const { client: own, mirror } of followers) {
        await mirror.follow();
        if (number % COMPARED_EVERY === 0) await mirror.expectSame(listsOf(own));
      }
      if (random() * 100 > 5) continue;
      const refused = await refusal(late);
      if (refused !== null) expect(refused).toBe(422);
      if (refused !== null) await late.copy(listsOf(client));
      await late.expectSame(listsOf(client));
    }
    for (const { client: own, mirror } of followers) await mirror.expectSame(listsOf(own));
  } catch (error) {
    throw new Error(
      `seed ${seed}: ${error instanceof Error ? error.message : error}\n${log.slice(-12).join('\n')}`,
    );
  }
}

test(
  `${SEEDS} seeds × ${STEPS} steps`,
  async () => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) await follow(seed);
  },
  LONG,
);
