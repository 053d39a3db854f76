// What a worker does with all else that v2 has: links, stages, members, interactions, transcripts.
import type { Json } from '../../support/json.ts';
import { hold } from './caller.ts';
import type { Worker } from './workers.ts';

const DEALS = 30;
// Interactions are never deleted: they come from so many places that there are no more of them.
const SOURCES = 40;

const make = async (worker: Worker, path: string, body: Json): Promise<Json> =>
  (await worker.v2.send('POST', path, 201, { body })).body.data;

const drop = (worker: Worker, path: string) => worker.v2.send('DELETE', path, 204);

/** A deal that is linked, moved on and listed, as an older one goes. */
export async function workOnDeal(worker: Worker): Promise<void> {
  const body = { name: `Deal ${worker.next}`, company_id: worker.company, estimated_value: 1_200.5 };
  const { id } = await make(worker, '/deals', { ...body, currency: 'EUR' });
  worker.deals.push(id);
  const links = `/deals/${id}/contacts`;
  for (let time = 0; time < 2; time++)
    await worker.v2.send('POST', links, 200, { body: { contact_id: worker.person } });
  await worker.v2.send('POST', `/deals/${id}/companies`, 200, { body: { company_id: worker.company } });
  const linked = await worker.v2.send('GET', links, 200);
  hold(linked.body.data.length === 1, `${links}: ${linked.body.data.length}`);
  await drop(worker, `${links}/${worker.person}`);
  await worker.v2.send('DELETE', `${links}/${worker.person}`, 404);
  const { pipeline_id } = (await worker.v2.send('GET', `/deals/${id}`, 200)).body.data;
  const { stages } = (await worker.v2.send('GET', `/pipelines/${pipeline_id}`, 200)).body.data;
  const { id: stage_id, type } = stages[worker.next % stages.length];
  const moved = await worker.v2.send('PATCH', `/deals/${id}`, 200, { body: { stage_id } });
  hold(moved.body.data.status === type, `a deal in a stage that is ${type}: ${moved.body.data.status}`);
  await worker.v2.send('GET', `/deals?status=open&company_id=${worker.company}`, 200);
  while (worker.deals.length > DEALS) await drop(worker, `/deals/${worker.deals.shift()}`);
}

/** A task and a tree of notes, with what they stand by. */
export async function writeNotes(worker: Worker): Promise<void> {
  const task = await make(worker, '/tasks', { name: 'Call', person_id: worker.person, due_date: Date.now() });
  const { body } = await worker.v2.send('PATCH', `/tasks/${task.id}`, 200, { body: { done: true } });
  hold(body.data.done_at !== null, 'a task that is done has no done_at');
  await worker.v2.send('GET', `/tasks?person_id=${worker.person}&done=true`, 200);
  await drop(worker, `/tasks/${task.id}`);
  const root = await make(worker, '/notes', { title: 'Root', content: 'n'.repeat(2_000) });
  const leaf = await make(worker, '/notes', { title: 'Leaf', parent_id: root.id });
  await worker.v2.send('PATCH', `/notes/${root.id}`, 422, { body: { parent_id: leaf.id } });
  const record = { record_type: 'contact', record_id: worker.person };
  await worker.v2.send('POST', `/notes/${leaf.id}/records`, 200, { body: record });
  const found = await worker.v2.send('GET', `/notes?record_id=${worker.person}`, 200);
  hold(found.body.data.length === 1, `notes by their record: ${found.body.data.length}`);
  await drop(worker, `/notes/${root.id}`);
  const orphan = await worker.v2.send('GET', `/notes/${leaf.id}`, 200);
  hold(orphan.body.data.parent_id === null, 'the parent of a note is gone, and still named');
  await drop(worker, `/notes/${leaf.id}`);
}

/** A segment with members. */
export async function createSegment(worker: Worker): Promise<void> {
  const { id } = await make(worker, '/segments', { name: 'Segment' });
  const members = [worker.person, ...worker.contacts.slice(-2).map((contact) => contact.id)];
  for (const record_id of members)
    await worker.v2.send('POST', `/segments/${id}/members`, 200, { body: { record_id } });
  const { body } = await worker.v2.send('GET', `/segments/${id}`, 200);
  hold(body.data.member_count === members.length, `members: ${body.data.member_count}`);
  await worker.v2.send('GET', `/contacts?segment_id=${id}`, 200);
  await drop(worker, `/segments/${id}`);
}

/** A pipeline whose stages change; a key bound to a user may not make one. */
export async function changePipeline(worker: Worker): Promise<void> {
  const stages = [{ name: 'New' }, { name: 'Won', type: 'won' }];
  if (worker.isBound) {
    await worker.v2.send('POST', '/pipelines', 403, { body: { name: 'P', stages } });
    return;
  }
  const made = await make(worker, '/pipelines', { name: 'P', stages });
  const path = `/pipelines/${made.id}`;
  const deal = await make(worker, '/deals', { name: 'D', pipeline_id: made.id });
  const others = [{ name: 'Other' }, { id: made.stages[1].id, name: 'Won' }];
  await worker.v2.send('PATCH', path, 409, { body: { stages: others } });
  await worker.v2.send('DELETE', path, 409);
  await drop(worker, `/deals/${deal.id}`);
  await worker.v2.send('PATCH', path, 200, { body: { stages: others } });
  await drop(worker, path);
}

/** An interaction, most of them known already. */
export async function logInteraction(worker: Worker): Promise<void> {
  worker.next += 1;
  const primary_id = `soak ${worker.number} ${worker.next % SOURCES}`;
  const said = { type: 'EMAIL', direction: 'INBOUND', title: 'Hello', main_contact: worker.person };
  const { id } = await make(worker, '/interactions', { ...said, primary_id });
  const again = await make(worker, '/interactions', { ...said, primary_id });
  hold(again.is_duplicate === true && again.id === id, 'an interaction that is there was made again');
  await worker.v2.send('GET', `/interactions/${id}`, 200);
  const { body } = await worker.v2.send('GET', `/interactions?contact_id=${worker.person}&limit=20`, 200);
  hold(body.data.length <= SOURCES, `interactions: ${body.data.length}`);
}

/** A transcript by a fresh link, and by one that was altered; the meeting gets a deal. */
export async function readTranscript(worker: Worker): Promise<void> {
  const { body } = await worker.v2.send('GET', `/recordings/${worker.recording}`, 200);
  const link: string = body.data.transcript_url;
  const path = link.slice(link.indexOf('/transcripts/'));
  const transcript = await worker.v2.send('GET', path, 200, { key: '' });
  hold(transcript.body.data.segments.length === 40, 'a transcript that is not whole');
  const altered = path.slice(0, -1) + (path.endsWith('A') ? 'B' : 'A');
  await worker.v2.send('GET', altered, 404, { key: '' });
  const deal_id = worker.deals.at(-1);
  if (deal_id === undefined || worker.isBound) return;
  await worker.v2.send('PUT', `/meetings/${worker.meeting}/deal`, 200, { body: { deal_id } });
  await worker.v2.send('GET', `/meetings/${worker.meeting}/deal`, 200);
}
