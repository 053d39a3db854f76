// Erases a person from an organization: every record that is about nobody else, and every trace in those of others.

import { liftQuota } from '../engine/quota.ts';
import type { Db } from '../engine/schema.ts';
import { takeInstant } from '../engine/write-instant.ts';
import { nextTurn } from '../event-loop.ts';
import type { Data } from '../model/json.ts';
import { contacts } from '../model/resources/contacts.ts';
import { getResource, RESOURCES } from '../model/resources/registry.ts';
import type { Store } from '../store.ts';
import { deleteRecord } from '../tables/deletion.ts';
import { updateRecord } from '../tables/records.ts';
import { saveTranscript } from '../tables/transcripts.ts';
import { ERASED } from './email-addresses.ts';
import { nobody, planFor, valueWithout } from './erasure-plan.ts';
import { findSegments, findTraces, speakerTest, type Traces } from './mentions.ts';
import { type DataSubject, findTied } from './person.ts';
import { deleteAnswers } from './stored-responses.ts';

/** What was done with the records of a resource, or would be. */
export interface ErasureCounts {
  deleted: number;
  changed: number;
  /** Whose tie to the person went, and nothing else. */
  unlinked: number;
}

export interface Erasure {
  resources: Record<string, ErasureCounts>;
  /** In which what the person said, or an address, is gone. */
  transcripts: number;
  /** Answers stored for `Idempotency-Key`. */
  stored_answers: number;
  /** What is left of that which had to do with the person; somebody has to see whether its text names the person. */
  to_look_at: ToLookAt[];
}

/** A record that was changed. */
export interface ToLookAt {
  resource: string;
  id: string;
  /** In which an address stood. */
  fields: string[];
  /** Those of them in which it stood beside "-" or "_", and may have been a part of somebody else's. */
  doubtful_fields: string[];
}

export interface ErasureOptions {
  isDryRun: boolean;
  /** How many rows more were read. */
  onProgress: (rows: number) => void;
  /** Runs in the transaction that ends the erasure. */
  finish: (trx: Db, erasure: Erasure) => Promise<void>;
}

// So that nobody waits long for the write lock.
const RECORDS_PER_JOB = 25;
// What is written meanwhile is found by looking again.
const ROUNDS_MAX = 3;

/** Erases a person, the contact last: begun again after it was cut off, it does the rest. */
export async function erasePerson(
  store: Store,
  person: DataSubject,
  { isDryRun, onProgress, finish }: ErasureOptions,
): Promise<Erasure> {
  const erasure: Erasure = { resources: {}, transcripts: 0, stored_answers: 0, to_look_at: [] };
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const traces = await findTraces(store.read, person, onProgress);
    const tied = await findTied(store.read, person);
    const isClean = traces.mentioned.size === 0 && traces.transcripts.size === 0;
    if (round > 0 && isClean) break;
    // What tells which of the speakers is the person goes after what they said.
    await eraseTranscripts(store, person, traces, { erasure, isDryRun, traces });
    const deleted = new Set<string>(person.contactId === '' ? [] : [person.contactId]);
    for (const { name } of RESOURCES) {
      const ids = new Set([...(traces.mentioned.get(name) ?? []), ...(tied.get(name) ?? [])]);
      ids.delete(person.contactId);
      await eraseRecords(store, person, { name, ids: [...ids], deleted }, { erasure, isDryRun, traces });
    }
    erasure.stored_answers += await deleteAnswers(store, person, deleted, isDryRun);
    await eraseNames(store, person, { erasure, isDryRun, traces });
    if (isDryRun) break;
    if (round === 0) await eraseContact(store, person);
  }
  if (person.contact !== null) countIn(erasure, contacts.name).deleted = 1;
  const places = erasure.to_look_at.map((one): [string, ToLookAt] => [`${one.resource}/${one.id}`, one]);
  erasure.to_look_at = [...new Map(places).values()];
  if (!isDryRun) await store.write(person.orgId, (trx) => finish(trx, erasure));
  return erasure;
}

interface Run {
  erasure: Erasure;
  isDryRun: boolean;
  traces: Traces;
}

interface Batch {
  name: string;
  ids: readonly string[];
  /** Takes the ids of records that are deleted. */
  deleted: Set<string>;
}

interface Done {
  id: string;
  outcome: keyof ErasureCounts;
}

async function eraseRecords(store: Store, person: DataSubject, batch: Batch, run: Run): Promise<void> {
  const { name, ids, deleted } = batch;
  for (let from = 0; from < ids.length; from += RECORDS_PER_JOB) {
    const some = ids.slice(from, from + RECORDS_PER_JOB);
    const done = run.isDryRun
      ? await eraseSome(store.read, person, { name, ids: some }, null)
      : await store.write(person.orgId, async (trx) => {
          const now = await takeInstant(trx, person.orgId, Date.now());
          // What stands for an address can be longer.
          await liftQuota(trx, person.orgId);
          return eraseSome(trx, person, { name, ids: some }, now);
        });
    for (const { id, outcome } of done) {
      countIn(run.erasure, name)[outcome] += 1;
      if (outcome === 'deleted') deleted.add(id);
      else if (name !== 'segments' || outcome === 'changed')
        run.erasure.to_look_at.push(lookAt(run.traces, name, id));
    }
    await nextTurn();
  }
}

// Writes nothing where there is no instant of it.
async function eraseSome(
  db: Db,
  person: DataSubject,
  { name, ids }: Pick<Batch, 'name' | 'ids'>,
  now: number | null,
): Promise<Done[]> {
  const resource = getResource(name);
  const done: Done[] = [];
  for (const id of ids) {
    const key = { orgId: person.orgId, id };
    const plan = await planFor(db, person, resource, id);
    if (plan === null) continue;
    if (plan.action === 'delete') {
      if (now !== null) await deleteRecord(db, resource, key, now);
      done.push({ id, outcome: 'deleted' });
      continue;
    }
    const isChanged = Object.keys(plan.columns).length > 0;
    if (isChanged && now !== null)
      await updateRecord(
        db,
        resource,
        { orgId: person.orgId, row: plan.row },
        { ...plan.columns, updated_at: now },
      );
    done.push({ id, outcome: isChanged ? 'changed' : 'unlinked' });
  }
  return done;
}

async function eraseTranscripts(
  store: Store,
  person: DataSubject,
  traces: Traces,
  { erasure, isDryRun }: Run,
): Promise<void> {
  for (const id of traces.transcripts) {
    const job = async (db: Db): Promise<void> => {
      await liftQuota(db, person.orgId);
      const speaks = await speakerTest(db, person, id, traces);
      const segments = (await findSegments(db, person.orgId, id)).map((segment) =>
        speaks(segment) ? silent(segment) : (valueWithout(person, segment, false) as Data),
      );
      if (!isDryRun) await saveTranscript(db, { orgId: person.orgId, id }, { segments });
    };
    if (!isDryRun) await store.write(person.orgId, job);
    erasure.transcripts += 1;
    const there = lookAt(traces, 'recordings', id);
    erasure.to_look_at.push({ ...there, fields: [...there.fields, 'transcript'] });
    await nextTurn();
  }
}

// That somebody spoke then is no secret of theirs.
function silent(segment: Data): Data {
  return { ...segment, speaker: nobody({ name: null, email: null }), speech: ERASED };
}

function lookAt({ places }: Traces, resource: string, id: string): ToLookAt {
  const there = places.filter((place) => place.resource === resource && place.id === id);
  const fieldsOf = (some: typeof places) => some.map(({ field }) => field);
  return {
    ...{ resource, id, fields: fieldsOf(there) },
    doubtful_fields: fieldsOf(there.filter((place) => place.is_doubtful)),
  };
}

// What people name things by, in tables that are no resource's own.
const NAMES = { pipeline_stages: 'pipelines', api_keys: 'keys' } as const;

async function eraseNames(store: Store, { orgId, addresses }: DataSubject, run: Run): Promise<void> {
  for (const table of ['pipeline_stages', 'api_keys'] as const) {
    const rows = await store.read
      .selectFrom(table)
      .select(['id', 'name'])
      .where('org_id', '=', orgId)
      .execute();
    for (const { id, name } of rows) {
      if (name === null || !addresses.isIn(name)) continue;
      countIn(run.erasure, NAMES[table]).changed += 1;
      if (run.isDryRun) continue;
      await store.write(table === 'api_keys' ? 'accounts' : orgId, (trx) =>
        trx
          .updateTable(table)
          .set({ name: addresses.takenOutOf(name) })
          .where('org_id', '=', orgId)
          .where('id', '=', id)
          .execute(),
      );
    }
  }
}

async function eraseContact(store: Store, { orgId, contactId }: DataSubject): Promise<void> {
  if (contactId === '') return;
  await store.write(orgId, async (trx) => {
    const now = await takeInstant(trx, orgId, Date.now());
    await deleteRecord(trx, contacts, { orgId, id: contactId }, now);
  });
}

function countIn({ resources }: Erasure, name: string): ErasureCounts {
  resources[name] ??= { deleted: 0, changed: 0, unlinked: 0 };
  return resources[name];
}
