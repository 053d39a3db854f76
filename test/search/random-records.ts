// Random records of every kind that is searched, written through the API or as an integration would.
import type { Data } from '../../db/model/json.ts';
import { saveTranscript } from '../../db/records/transcripts.ts';
import type { Harness, Json } from '../support/harness.ts';
import { insertAtOnce } from '../support/read-only.ts';
import { type Client, clientOf } from '../support/v2.ts';
import type { PlainRecord } from './plain-search.ts';
import { pick, type RandomTexts, whole } from './random-texts.ts';

/** In the proportions in which they are written. */
const WRITTEN = [
  ...['contacts', 'contacts', 'contacts', 'companies', 'deals', 'notes', 'notes', 'tasks'],
  ...['meetings', 'recordings', 'interactions', 'interactions', 'bookings'],
];
export const TYPES = [...new Set(WRITTEN)];
const BATCH = 20;

const PATCHED: Readonly<Record<string, string>> = {
  ...{ contacts: 'last_name', companies: 'name', deals: 'name', notes: 'content', tasks: 'description' },
};

/** What is written, read again through the lists of a key. */
export class RandomRecords {
  readonly #harness: Harness;
  readonly #texts: RandomTexts;
  readonly #client: Client;
  readonly #externalIds = new Map<string, PlainRecord['externalIds']>();
  readonly #transcripts = new Map<string, string[]>();
  #made = 0;

  constructor(harness: Harness, texts: RandomTexts) {
    this.#harness = harness;
    this.#texts = texts;
    this.#client = clientOf(harness);
  }

  /** Writes so many records, then changes and deletes some. */
  async write(count: number): Promise<void> {
    for (let left = count; left > 0; left -= BATCH)
      await this.#create(pick(this.#texts.random, WRITTEN), Math.min(left, BATCH));
    for (const [type, field] of Object.entries(PATCHED)) {
      const ids = (await this.#client.list(`/${type}?limit=100`)).map(({ id }) => id);
      for (const id of ids.slice(0, Math.ceil(count / 100))) {
        const chosen = pick(this.#texts.random, ids);
        await this.#client.patch(`/${type}/${chosen}`, { [field]: this.#texts.text(1, 3) });
        await this.#addExternalId(type, pick(this.#texts.random, ids));
        if (this.#texts.random() < 0.5) await this.#client.del(`/${type}/${id}`);
        if (this.#texts.random() < 0.1) await this.#client.post(`/${type}/${id}/undelete`);
      }
    }
    await this.#transcribeAgain(Math.ceil(count / 100));
  }

  async #transcribeAgain(count: number): Promise<void> {
    const recordings = await this.#client.list('/recordings?limit=100');
    for (const { id } of recordings.slice(0, count)) await this.#transcribe(id);
  }

  /** Everything that a key can see. */
  async readAll(client = this.#client): Promise<PlainRecord[]> {
    const lists = TYPES.map(async (type) =>
      (await client.all(`/${type}`)).map((record: Json) => ({
        type,
        record,
        externalIds: this.#externalIds.get(record.id) ?? [],
        transcript: this.#transcripts.get(record.id) ?? [],
      })),
    );
    return (await Promise.all(lists)).flat();
  }

  async #addExternalId(type: string, id: string): Promise<void> {
    const given = { source: pick(this.#texts.random, ['hubspot', 'erp']), id: `X:${this.#texts.digits(4)}` };
    const reply = await this.#client.post(`/${type}/${id}/external_ids`, given);
    if (reply.status === 201) this.#externalIds.set(id, [...(this.#externalIds.get(id) ?? []), given]);
  }

  async #create(type: string, count: number): Promise<void> {
    const bodies = Array.from({ length: count }, () => this.#body(type));
    if (['meetings', 'recordings', 'bookings'].includes(type)) {
      const ids = await insertAtOnce(this.#harness, type, bodies);
      for (const id of type === 'recordings' ? ids : []) await this.#transcribe(id);
      return;
    }
    await this.#client.batch(`/${type}/batch`, bodies);
  }

  async #transcribe(id: string): Promise<void> {
    const { store, orgNumber } = this.#harness;
    const speaker = { name: this.#texts.text(1, 2), email: this.#email() };
    const speeches = [this.#texts.text(1, 4), this.#texts.text(1, 4)];
    const segments = speeches.map((speech) => ({ speaker, start_time: 0, end_time: 1, speech }));
    await store.write(orgNumber, (trx) => saveTranscript(trx, { orgNumber, id }, { segments }));
    this.#transcripts.set(id, [...speeches, speaker.name, speaker.email]);
  }

  #email(): string {
    const { random } = this.#texts;
    const local = `${this.#texts.label()}.${this.#texts.label()}${whole(random, 0, 9)}`;
    return `${random() < 0.2 ? local.toUpperCase() : local}@${this.#texts.label()}.example`;
  }

  #body(type: string): Data {
    const texts = this.#texts;
    const { alice, bob } = this.#harness;
    const owner_id = pick(texts.random, [alice, bob, null]);
    const number = this.#made++;
    const maybe = <T>(make: () => T) => (texts.random() < 0.5 ? make() : null);
    const person = () => ({ name: texts.text(1, 2), email: this.#email() });
    const custom = { color: texts.text(1, 2), size: whole(texts.random, 0, 99) / 2, is_new: true };
    const external_id = `ext-${number}@calendar`;
    const bodies: Record<string, () => Data> = {
      contacts: () => ({
        first_name: texts.text(1, 1),
        last_name: maybe(() => texts.text(1, 2)),
        email: maybe(() => `${number}.${this.#email()}`),
        alt_emails: texts.random() < 0.2 ? [`${number}-alt.${this.#email()}`] : [],
        ...{ title: maybe(() => texts.text(1, 2)), remarks: maybe(() => texts.text(3, 60)) },
        ...{ phone: maybe(() => texts.phone()), whatsapp: maybe(() => texts.phone()) },
        ...{ linkedin: maybe(() => `https://linkedin.example/${texts.label()}`), custom, owner_id },
      }),
      companies: () => ({
        ...{ name: texts.text(1, 3), domain: maybe(() => `${texts.label()}${number}.example`) },
        ...{ city: maybe(() => texts.text(1, 1)), industry: maybe(() => texts.text(1, 2)), owner_id },
      }),
      deals: () => ({ name: texts.text(1, 3), custom, owner_id }),
      notes: () => ({ title: texts.text(1, 2), content: maybe(() => texts.text(5, 80)) }),
      tasks: () => ({ name: texts.text(1, 3), description: maybe(() => texts.text(2, 9)) }),
      meetings: () => ({
        ...{
          external_id,
          title: texts.text(1, 3),
          description: texts.text(0, 9),
          location: texts.text(0, 2),
        },
        ...{ organizer: person(), attendees: [{ ...person(), contact_id: null }], owner_id },
      }),
      recordings: () => ({ external_id, title: texts.text(1, 2), has_transcript: true, owner_id }),
      interactions: () => ({
        ...{ type: 'EMAIL', direction: 'INBOUND', title: texts.text(1, 3), summary: texts.text(0, 12) },
        ...{ primary_id: `msg ${number}`, main_contact_email: `i${number % 50}@inbox.example` },
      }),
      bookings: () => ({
        ...{ external_id, title: texts.text(1, 2), description: texts.text(0, 5), guests: [this.#email()] },
        ...{ organizer: person(), attendee: { ...person(), contact_id: null }, owner_id },
      }),
    };
    return bodies[type]?.() ?? {};
  }
}
