// What a worker does by way of v1: people and companies that come and go, and interactions.
import { hold } from './caller.ts';
import type { Worker } from './workers.ts';

const SOURCES = 40;

/** A person from its making to its end. */
export async function workOnPerson(worker: Worker): Promise<void> {
  worker.next += 1;
  const email = `v1-${worker.number}-${worker.next}@soak.test`;
  const { v1 } = worker;
  const person = { type: 'email', identifier: email, firstName: 'Ada' };
  const { id } = (await v1.send('POST', '/people', 201, { body: person })).body.data;
  await v1.send('POST', '/people', 409, { body: person });
  const upsert = { email, firstName: 'Ada', title: 'Countess' };
  const upserted = await v1.send('PUT', '/people', 200, { body: upsert });
  hold(upserted.body.data.id === id, 'PUT /people: another id');
  await v1.send('PATCH', `/people/${id}`, 200, { body: { phone: '+44 20 7946 0000' } });
  const { body } = await v1.send('POST', '/people/query', 200, { body: { filter: { email } } });
  hold(body.data.length === 1 && body.data[0].title === 'Countess', 'POST /people/query: not that person');
  await v1.send('GET', `/people/${id}`, 200);
  await v1.send('DELETE', `/people/${id}`, 204);
  await v1.send('GET', `/people/${id}`, 404);
}

/** A company, made twice; and an interaction of a few, most of them known already. */
export async function workOnCompany(worker: Worker): Promise<void> {
  worker.next += 1;
  const body = { domain: `v1-${worker.number}-${worker.next}.test`, name: 'V1', tier: 'gold' };
  const { v1 } = worker;
  const { id } = (await v1.send('POST', '/companies', 201, { body })).body.data;
  const again = await v1.send('POST', '/companies', 200, { body });
  hold(again.body.data.id === id, 'POST /companies: another id');
  await v1.send('PATCH', `/companies/${id}`, 200, { body: { tier: 'silver' } });
  const shown = await v1.send('GET', `/companies/${id}`, 200);
  hold(shown.body.data.tier === 'silver', 'GET /companies: not what was written');
  await v1.send('DELETE', `/companies/${id}`, 204);
  const primaryId = `v1 ${worker.number} ${worker.next % SOURCES}`;
  const said = { type: 'MEMO', direction: 'INTERNAL', title: 'Memo', mainContact: worker.person, primaryId };
  await v1.send('POST', '/interactions', 201, { body: said });
  await v1.send('POST', '/interactions/query', 200, { body: { filter: { contactId: worker.person } } });
}
