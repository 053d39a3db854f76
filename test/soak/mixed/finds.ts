// What a worker asks of its records: searches, queries, timelines, and the log of changes; and what upserts and undeletes do.
import type { Json } from '../../support/json.ts';
import { hold } from './caller.ts';
import type { Worker } from './workers.ts';

const ask = async (worker: Worker, path: string, body: Json): Promise<Json> =>
  (await worker.v2.send('POST', path, 200, { body })).body;

/** A search for a contact by its name, right after it was created or long after. */
export async function searchContact(worker: Worker): Promise<void> {
  const contact = worker.contacts.at(-1);
  if (contact === undefined) return;
  const words = encodeURIComponent(`zoe contact ${contact.title.slice(1)}`);
  // The index may be behind at the start of a load.
  const { status, body } = await worker.v2.send('GET', `/search?q=${words}&types=contacts`, [200, 503]);
  if (status === 200) hold(Array.isArray(body.data), 'search: no list');
}

/** A query with its count, and with what the records refer to. */
export async function queryContacts(worker: Worker): Promise<void> {
  const filter = { company_id: worker.company, title: { starts_with: `T${worker.number}-` } };
  const page = { filter, limit: 50, include: ['company'], fields: ['email', 'title', 'company_id'] };
  const found = await ask(worker, '/contacts/query', page);
  const { count, is_exact } = (await ask(worker, '/contacts/count', { filter })).data;
  hold(!is_exact || count === worker.contacts.length, `count of ${worker.contacts.length}: ${count}`);
  hold(found.data.length === Math.min(50, count), `query of ${count}: ${found.data.length}`);
}

/** The timelines of a person and a company. */
export async function readTimelines(worker: Worker): Promise<void> {
  await worker.v2.send('GET', `/contacts/${worker.person}/timeline?limit=50`, 200);
  await worker.v2.send('GET', `/companies/${worker.company}/timeline?kinds=deal&kinds=interaction`, 200);
}

/** The newest changes, and a record's history. */
export async function readChanges(worker: Worker): Promise<void> {
  const contact = worker.contacts.at(-1);
  if (contact === undefined) return;
  const { body } = await worker.v2.send(
    'GET',
    '/changes?start=now&sort_direction=desc&resource=contacts',
    200,
  );
  hold(body.data.length > 0, 'changes: none');
  await worker.v2.send('GET', `/contacts/${contact.id}/history`, 200);
}

/** A company found by its domain, with another city each time. */
export async function upsertCompany(worker: Worker): Promise<void> {
  worker.next += 1;
  const body = { domain: `worker${worker.number}.test`, city: `City ${worker.next}` };
  const { data } = await ask(worker, '/companies/upsert', body);
  hold(data.id === worker.company && data.outcome === 'updated', `upsert: ${data.outcome}`);
}

/** A task that is deleted, restored, and deleted for good. */
export async function undeleteTask(worker: Worker): Promise<void> {
  const body = { name: 'Restored', person_id: worker.person };
  const { data } = (await worker.v2.send('POST', '/tasks', 201, { body })).body;
  const path = `/tasks/${data.id}`;
  await worker.v2.send('DELETE', path, 204);
  await worker.v2.send('POST', `${path}/undelete`, 200);
  await worker.v2.send('GET', path, 200);
  await worker.v2.send('DELETE', path, 204);
}
