// What a worker does with contacts: as many are deleted as are made.
import type { Json } from '../../support/json.ts';
import { hold } from './caller.ts';
import type { Worker } from './workers.ts';

const CONTACTS = 150;
const BATCH_ITEMS = 20;
const EVERY_REPLAY = 3;

const draw = (most: number) => Math.floor(Math.random() * most);
const once = () => ({ 'Idempotency-Key': crypto.randomUUID() });

function newContact(worker: Worker): Json {
  worker.next += 1;
  const name = `${worker.number}-${worker.next}`;
  return {
    ...{ email: `c${name}@soak.test`, first_name: 'Zoë 😀', last_name: `Contact ${name}`, title: `T${name}` },
    ...{ company_id: worker.company, custom: { region: 'EMEA', score: worker.next } },
    ...(worker.next % 5 === 0 && { remarks: 'r'.repeat(draw(3_000)) }),
  };
}

/** Makes a contact; every other under a key, some of which are sent again, as they were and with another body. */
export async function createContact(worker: Worker): Promise<void> {
  const body = newContact(worker);
  const isKeyed = worker.next % 2 === 0;
  const headers = isKeyed ? once() : {};
  const { body: made, text } = await worker.v2.send('POST', '/contacts', 201, { body, headers });
  hold(made.data.title === body.title, `POST /contacts: title ${made.data.title}`);
  worker.contacts.push({ id: made.data.id, title: body.title });
  if (isKeyed && worker.next % EVERY_REPLAY === 0) {
    const again = await worker.v2.send('POST', '/contacts', 201, { body, headers });
    hold(
      again.text === text && again.headers.get('Idempotent-Replayed') === 'true',
      'replay: another answer',
    );
    await worker.v2.send('POST', '/contacts', 422, { body: { ...body, title: 'other' }, headers });
    await worker.v2.send('POST', '/contacts', 409, { body });
  }
  await deleteOldContacts(worker);
}

async function deleteOldContacts(worker: Worker): Promise<void> {
  while (worker.contacts.length > CONTACTS) {
    const path = `/contacts/${worker.contacts.shift()?.id}`;
    await worker.v2.send('DELETE', path, 204);
    if (draw(4) === 0) await worker.v2.send('GET', path, 404);
  }
}

const pick = (worker: Worker) => worker.contacts[draw(worker.contacts.length)];

/** Changes a contact, at times under a key. */
export async function updateContact(worker: Worker): Promise<void> {
  const contact = pick(worker);
  if (contact === undefined) return;
  worker.next += 1;
  const title = `T${worker.number}-${worker.next}`;
  const headers = draw(4) === 0 ? once() : {};
  const path = `/contacts/${contact.id}`;
  const { body } = await worker.v2.send('PATCH', path, 200, { body: { title }, headers });
  contact.title = title;
  hold(body.data.title === title, `PATCH ${path}: ${body.data.title}`);
}

/** Reads a contact. */
export async function getContact(worker: Worker): Promise<void> {
  const contact = pick(worker);
  if (contact === undefined) return;
  const { body } = await worker.v2.send('GET', `/contacts/${contact.id}`, 200);
  hold(body.data.title === contact.title, `GET /contacts: ${body.data.title} for ${contact.title}`);
}

/** Reads a page of the worker's contacts, or looks for one by its address. */
export async function listContacts(worker: Worker): Promise<void> {
  const { body } = await worker.v2.send('GET', `/contacts?company_id=${worker.company}&limit=100`, 200);
  const found = body.data.length;
  hold(found === Math.min(100, worker.contacts.length), `list of ${worker.contacts.length}: ${found}`);
  const email = encodeURIComponent(`person${worker.number}@soak.test`);
  const one = await worker.v2.send('GET', `/contacts?email=${email}`, 200);
  hold(one.body.data.length === 1, `one by its address: ${one.body.data.length}`);
}

/** Walks all of the worker's contacts, in one of the four orders. */
export async function pageThroughContacts(worker: Worker): Promise<void> {
  const order = `sort_by=${draw(2) ? 'created_at' : 'updated_at'}&sort_direction=${draw(2) ? 'asc' : 'desc'}`;
  const ids: string[] = [];
  for (let cursor = ''; ; ) {
    const path = `/contacts?company_id=${worker.company}&limit=40&${order}${cursor}`;
    const { body } = await worker.v2.send('GET', path, 200);
    ids.push(...body.data.map((one: Json) => one.id));
    if (!body.page_info.has_next_page) break;
    cursor = `&cursor=${encodeURIComponent(body.page_info.end_cursor)}`;
  }
  const known = new Set(worker.contacts.map(({ id }) => id));
  hold(ids.length === known.size && ids.every((id) => known.has(id)), `walk: ${ids.length} of ${known.size}`);
}

/** Makes a batch of contacts, two of them invalid. */
export async function batchContacts(worker: Worker): Promise<void> {
  const items = Array.from({ length: BATCH_ITEMS - 2 }, () => newContact(worker));
  const body = [...items, items[0], { email: 'no address' }];
  const headers = draw(2) === 0 ? once() : {};
  const reply = await worker.v2.send('POST', '/contacts/batch', 200, { body, headers });
  const { data } = reply.body;
  hold(data.summary.succeeded === items.length && data.summary.failed === 2, 'batch: another summary');
  for (const [index, item] of items.entries())
    worker.contacts.push({ id: data.items[index].data.id, title: item.title });
  await deleteOldContacts(worker);
}
