// Erases a person from an organization: deletes records about that person only, and removes all traces from others.

import { actingAs } from '../engine/acting.ts';
import { ERASURE } from '../engine/author.ts';
import { liftQuota } from '../engine/quota.ts';
import type { Db, RecordTrx, Trx } from '../engine/schema.ts';
import { takeInstant } from '../engine/write-instant.ts';
import { nextTurn } from '../event-loop.ts';
import type { Data } from '../model/json.ts';
import { contacts } from '../model/resources/contacts.ts';
import { getResource, RESOURCES } from '../model/resources/registry.ts';
import { deleteRecord } from '../records/deletion.ts';
import { deleteExternalId, listExternalIds } from '../records/record-external-ids.ts';
import { updateRecord } from '../records/record-updates.ts';
import { saveTranscript } from '../records/transcripts.ts';
import type { Store } from '../store.ts';
import { ERASED } from './email-addresses.ts';
import { anonymousPerson, erasurePlan, withoutPerson } from './erasure-plan.ts';
import { eraseLoggedChanges } from './logged-changes.ts';
import { findMentions, findSegments, type Mentions, speakerTest } from './mentions.ts';
import { eraseNames } from './names.ts';
import { type DataSubject, findTiedRecords } from './person.ts';
import { eraseSearchWords } from './search-words.ts';
import { deleteStoredResponses } from './stored-responses.ts';
import { eraseTimelineDetails } from './timeline-details.ts';

/** What was done, or would be done, with the records of a resource. */
export interface ErasureCounts {
  deleted: number;
  changed: number;
  /** Records that only lost their link to the person. */
  unlinked: number;
}

export interface Erasure {
  resources: Record<string, ErasureCounts>;
  /** Transcripts from which the person's words, or an address, were removed. */
  transcripts: number;
  /** Responses stored for `Idempotency-Key`. */
  stored_answers: number;
  /** Remaining records that had to do with the person; someone must check whether their text names the person. */
  to_look_at: ReviewItem[];
}

/** A record that was changed. */
export interface ReviewItem {
  resource: string;
  id: string;
  /** The fields that contained an address. */
  fields: string[];
  /** Fields in which the address was next to "-" or "_", and could have been part of another address. */
  doubtful_fields: string[];
}

export interface ErasureOptions {
  isDryRun: boolean;
  /** Receives the number of rows read since the last call. */
  onProgress: (rows: number) => void;
  /** Runs in the transaction that ends the erasure. */
  finish: (trx: Trx, erasure: Erasure) => Promise<void>;
}

// Small, so that others do not wait long for the write lock.
const RECORDS_PER_JOB = 25;
// Another round finds what was written in the meantime.
const ROUNDS_MAX = 3;

/** Erases a person, and deletes the contact last: after an interruption, running it again completes the rest. */
export async function erasePerson(
  store: Store,
  person: DataSubject,
  { isDryRun, onProgress, finish }: ErasureOptions,
): Promise<Erasure> {
  const erasure: Erasure = { resources: {}, transcripts: 0, stored_answers: 0, to_look_at: [] };
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const traces = await findMentions(store.read, person, onProgress);
    const tied = await findTiedRecords(store.read, person);
    const isClean = traces.mentioned.size === 0 && traces.transcripts.size === 0;
    if (round > 0 && isClean) break;
    // Removes the information which speaker is the person only after the words.
    await eraseTranscripts(store, person, { erasure, isDryRun, traces });
    const deleted = new Set<string>(person.contactId === '' ? [] : [person.contactId]);
    const changed = new Set<string>();
    for (const { name } of RESOURCES) {
      const ids = new Set([...(traces.mentioned.get(name) ?? []), ...(tied.get(name) ?? [])]);
      ids.delete(person.contactId);
      await eraseRecords(
        store,
        person,
        { name, ids: [...ids], deleted, changed },
        { erasure, isDryRun, traces },
      );
    }
    erasure.stored_answers += await deleteStoredResponses(store, person, deleted, isDryRun);
    for (const name of await eraseNames(store, person, isDryRun)) countIn(erasure, name).changed += 1;
    if (isDryRun) break;
    if (round === 0) await eraseContact(store, person);
    await eraseLoggedChanges(store, person, new Set([...deleted, ...changed]));
    await eraseTimelineDetails(store, person);
    await eraseSearchWords(store, person.orgNumber);
  }
  if (person.contact !== null) countIn(erasure, contacts.name).deleted = 1;
  const places = erasure.to_look_at.map((one): [string, ReviewItem] => [`${one.resource}/${one.id}`, one]);
  erasure.to_look_at = [...new Map(places).values()];
  if (!isDryRun) await store.write(person.orgNumber, (trx) => finish(trx, erasure));
  return erasure;
}

interface Run {
  erasure: Erasure;
  isDryRun: boolean;
  traces: Mentions;
}

interface Batch {
  name: string;
  ids: readonly string[];
  /** Receive the IDs of records. */
  deleted: Set<string>;
  changed: Set<string>;
}

interface Done {
  id: string;
  outcome: keyof ErasureCounts;
}

async function eraseRecords(store: Store, person: DataSubject, batch: Batch, run: Run): Promise<void> {
  const { name, ids, deleted, changed } = batch;
  for (let from = 0; from < ids.length; from += RECORDS_PER_JOB) {
    const some = ids.slice(from, from + RECORDS_PER_JOB);
    const done = run.isDryRun
      ? await eraseSome(store.read, person, { name, ids: some })
      : await store.write(person.orgNumber, async (trx) => {
          const now = await takeInstant(trx, person.orgNumber, Date.now());
          // The replacement can be longer than the address.
          await liftQuota(trx, person.orgNumber);
          return eraseSome(trx, person, { name, ids: some }, { trx: actingAs(trx, ERASURE), now });
        });
    for (const { id, outcome } of done) {
      countIn(run.erasure, name)[outcome] += 1;
      if (outcome === 'changed') changed.add(id);
      if (outcome === 'deleted') deleted.add(id);
      else if (name !== 'segments' || outcome === 'changed')
        run.erasure.to_look_at.push(lookAt(run.traces, name, id));
    }
    await nextTurn();
  }
}

// Without `writing`, only returns what would happen to the records.
async function eraseSome(
  db: Db,
  person: DataSubject,
  { name, ids }: Pick<Batch, 'name' | 'ids'>,
  writing?: { trx: RecordTrx; now: number },
): Promise<Done[]> {
  const resource = getResource(name);
  const done: Done[] = [];
  const theirs = (await listExternalIds(db, resource, person.orgNumber, ids)).filter(({ external_id }) =>
    person.addresses.isIn(external_id),
  );
  for (const id of ids) {
    const key = { orgNumber: person.orgNumber, id };
    // Also of a record that an older crm has deleted.
    const sources = theirs.flatMap(({ record_id, source }) => (record_id === id ? [source] : []));
    if (writing !== undefined)
      for (const source of sources) await deleteExternalId(writing.trx, resource, key, source);
    const plan = await erasurePlan(db, person, resource, id);
    if (plan === null) continue;
    if (plan.action === 'delete') {
      if (writing !== undefined) await deleteRecord(writing.trx, resource, key, writing.now);
      done.push({ id, outcome: 'deleted' });
      continue;
    }
    const hasColumns = Object.keys(plan.columns).length > 0;
    if (hasColumns && writing !== undefined) {
      const { trx, now } = writing;
      const stored = { orgNumber: person.orgNumber, row: plan.row };
      await updateRecord(trx, resource, stored, { ...plan.columns, updated_at: now });
    }
    done.push({ id, outcome: hasColumns || sources.length > 0 ? 'changed' : 'unlinked' });
  }
  return done;
}

async function eraseTranscripts(
  store: Store,
  person: DataSubject,
  { erasure, isDryRun, traces }: Run,
): Promise<void> {
  for (const id of traces.transcripts) {
    const job = async (db: Trx): Promise<void> => {
      await liftQuota(db, person.orgNumber);
      const speaks = await speakerTest(db, person, id, traces);
      const segments = (await findSegments(db, person.orgNumber, id)).map((segment) =>
        speaks(segment) ? silent(segment) : (withoutPerson(person, segment, false) as Data),
      );
      if (!isDryRun) await saveTranscript(db, { orgNumber: person.orgNumber, id }, { segments });
    };
    if (!isDryRun) await store.write(person.orgNumber, job);
    erasure.transcripts += 1;
    const there = lookAt(traces, 'recordings', id);
    erasure.to_look_at.push({ ...there, fields: [...there.fields, 'transcript'] });
    await nextTurn();
  }
}

// Keeps the times, which are not personal.
function silent(segment: Data): Data {
  return { ...segment, speaker: anonymousPerson({ name: null, email: null }), speech: ERASED };
}

function lookAt({ places }: Mentions, resource: string, id: string): ReviewItem {
  const there = places.filter((place) => place.resource === resource && place.id === id);
  const fieldsOf = (some: typeof places) => some.map(({ field }) => field);
  return {
    ...{ resource, id, fields: fieldsOf(there) },
    doubtful_fields: fieldsOf(there.filter((place) => place.is_doubtful)),
  };
}

async function eraseContact(store: Store, { orgNumber, contactId }: DataSubject): Promise<void> {
  if (contactId === '') return;
  await store.write(orgNumber, async (trx) => {
    const now = await takeInstant(trx, orgNumber, Date.now());
    await deleteRecord(actingAs(trx, ERASURE), contacts, { orgNumber, id: contactId }, now);
  });
}

function countIn({ resources }: Erasure, name: string): ErasureCounts {
  resources[name] ??= { deleted: 0, changed: 0, unlinked: 0 };
  return resources[name];
}
