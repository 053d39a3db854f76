// Meetings, recordings and bookings as an integration would leave them in the database.

import { actingAs } from '../../db/engine/acting.ts';
import { OPERATOR } from '../../db/engine/author.ts';
import { takeInstant } from '../../db/engine/write-instant.ts';
import type { Data } from '../../db/model/json.ts';
import { getResource } from '../../db/model/resources/registry.ts';
import { insertRecord } from '../../db/records/records.ts';
import { saveTranscript } from '../../db/records/transcripts.ts';
import type { Harness, Json } from './harness.ts';

type Where = Pick<Harness, 'store' | 'orgNumber' | 'clock'>;

/** Writes a record of a read-only resource and gives its id. */
export async function insertReadOnly(where: Where, name: string, fields: Data = {}): Promise<string> {
  const [id = ''] = await insertAtOnce(where, name, [fields]);
  return id;
}

/** Writes several records in one transaction, so that they share their moment; gives their ids. */
export function insertAtOnce(
  { store, orgNumber, clock }: Where,
  name: string,
  records: readonly Data[],
): Promise<string[]> {
  const resource = getResource(name);
  clock.now += 1;
  return store.write('accounts', async (trx) => {
    const now = await takeInstant(trx, orgNumber, clock.now);
    const ids: string[] = [];
    for (const fields of records) {
      const attendee = fields.attendee as Json;
      const derived: Data = attendee?.email ? { attendee_email: attendee.email } : {};
      const data = { ...fields, ...derived };
      ids.push(
        (
          await insertRecord(actingAs(trx, OPERATOR), resource, {
            orgNumber,
            createdBy: 'integration',
            now,
            data,
          })
        ).id,
      );
    }
    return ids;
  });
}

export const SEGMENTS = [
  {
    speaker: { name: 'Ada', email: 'ada@mail.example' },
    start_time: 0,
    end_time: 2.5,
    speech: 'Good morning.',
  },
  { speaker: { name: null, email: null }, start_time: 2.5, end_time: 4, speech: 'Morning.' },
];

/** Writes a recording that has a transcript and gives its id. */
export async function insertTranscribed(where: Where, fields: Data = {}): Promise<string> {
  const id = await insertReadOnly(where, 'recordings', { ...fields, has_transcript: true });
  const { store, orgNumber } = where;
  const transcript = { language: 'en', segments: SEGMENTS };
  await store.write(orgNumber, (trx) => saveTranscript(trx, { orgNumber, id }, transcript));
  return id;
}
