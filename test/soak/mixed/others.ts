// What a desk does with all else that v2 has: links, stages, members, interactions, transcripts.
import type { Json } from '../../support/json.ts';
import { hold } from './caller.ts';
import type { Desk } from './desks.ts';

const DEALS = 30;
// Interactions are never deleted: they come from so many places that there are no more of them.
const SOURCES = 40;

const make = async (desk: Desk, path: string, body: Json): Promise<Json> =>
  (await desk.v2.send('POST', path, 201, { body })).body.data;

const drop = (desk: Desk, path: string) => desk.v2.send('DELETE', path, 204);

/** A deal that is linked, moved on and listed, as an older one goes. */
export async function workOnDeal(desk: Desk): Promise<void> {
  const body = { name: `Deal ${desk.next}`, company_id: desk.company, estimated_value: 1_200.5 };
  const { id } = await make(desk, '/deals', { ...body, currency: 'EUR' });
  desk.deals.push(id);
  const links = `/deals/${id}/contacts`;
  for (let time = 0; time < 2; time++)
    await desk.v2.send('POST', links, 200, { body: { contact_id: desk.person } });
  await desk.v2.send('POST', `/deals/${id}/companies`, 200, { body: { company_id: desk.company } });
  const linked = await desk.v2.send('GET', links, 200);
  hold(linked.body.data.length === 1, `${links}: ${linked.body.data.length}`);
  await drop(desk, `${links}/${desk.person}`);
  await desk.v2.send('DELETE', `${links}/${desk.person}`, 404);
  const { pipeline_id } = (await desk.v2.send('GET', `/deals/${id}`, 200)).body.data;
  const { stages } = (await desk.v2.send('GET', `/pipelines/${pipeline_id}`, 200)).body.data;
  const { id: stage_id, type } = stages[desk.next % stages.length];
  const moved = await desk.v2.send('PATCH', `/deals/${id}`, 200, { body: { stage_id } });
  hold(moved.body.data.status === type, `a deal in a stage that is ${type}: ${moved.body.data.status}`);
  await desk.v2.send('GET', `/deals?status=open&company_id=${desk.company}`, 200);
  while (desk.deals.length > DEALS) await drop(desk, `/deals/${desk.deals.shift()}`);
}

/** A task and a tree of notes, with what they stand by. */
export async function writeNotes(desk: Desk): Promise<void> {
  const task = await make(desk, '/tasks', { name: 'Call', person_id: desk.person, due_date: Date.now() });
  const { body } = await desk.v2.send('PATCH', `/tasks/${task.id}`, 200, { body: { done: true } });
  hold(body.data.done_at !== null, 'a task that is done has no done_at');
  await desk.v2.send('GET', `/tasks?person_id=${desk.person}&done=true`, 200);
  await drop(desk, `/tasks/${task.id}`);
  const root = await make(desk, '/notes', { title: 'Root', content: 'n'.repeat(2_000) });
  const leaf = await make(desk, '/notes', { title: 'Leaf', parent_id: root.id });
  await desk.v2.send('PATCH', `/notes/${root.id}`, 422, { body: { parent_id: leaf.id } });
  const record = { record_type: 'contact', record_id: desk.person };
  await desk.v2.send('POST', `/notes/${leaf.id}/records`, 200, { body: record });
  const found = await desk.v2.send('GET', `/notes?record_id=${desk.person}`, 200);
  hold(found.body.data.length === 1, `notes by their record: ${found.body.data.length}`);
  await drop(desk, `/notes/${root.id}`);
  const orphan = await desk.v2.send('GET', `/notes/${leaf.id}`, 200);
  hold(orphan.body.data.parent_id === null, 'the parent of a note is gone, and still named');
  await drop(desk, `/notes/${leaf.id}`);
}

/** A segment with members. */
export async function gatherSegment(desk: Desk): Promise<void> {
  const { id } = await make(desk, '/segments', { name: 'Segment' });
  const members = [desk.person, ...desk.contacts.slice(-2).map((contact) => contact.id)];
  for (const record_id of members)
    await desk.v2.send('POST', `/segments/${id}/members`, 200, { body: { record_id } });
  const { body } = await desk.v2.send('GET', `/segments/${id}`, 200);
  hold(body.data.member_count === members.length, `members: ${body.data.member_count}`);
  await desk.v2.send('GET', `/contacts?segment_id=${id}`, 200);
  await drop(desk, `/segments/${id}`);
}

/** A pipeline whose stages change; a key bound to a user may not make one. */
export async function changePipeline(desk: Desk): Promise<void> {
  const stages = [{ name: 'New' }, { name: 'Won', type: 'won' }];
  if (desk.isBound) {
    await desk.v2.send('POST', '/pipelines', 403, { body: { name: 'P', stages } });
    return;
  }
  const made = await make(desk, '/pipelines', { name: 'P', stages });
  const path = `/pipelines/${made.id}`;
  const deal = await make(desk, '/deals', { name: 'D', pipeline_id: made.id });
  const others = [{ name: 'Other' }, { id: made.stages[1].id, name: 'Won' }];
  await desk.v2.send('PATCH', path, 409, { body: { stages: others } });
  await desk.v2.send('DELETE', path, 409);
  await drop(desk, `/deals/${deal.id}`);
  await desk.v2.send('PATCH', path, 200, { body: { stages: others } });
  await drop(desk, path);
}

/** An interaction, most of them known already. */
export async function logInteraction(desk: Desk): Promise<void> {
  desk.next += 1;
  const primary_id = `soak ${desk.number} ${desk.next % SOURCES}`;
  const said = { type: 'EMAIL', direction: 'INBOUND', title: 'Hello', main_contact: desk.person };
  const { id } = await make(desk, '/interactions', { ...said, primary_id });
  const again = await make(desk, '/interactions', { ...said, primary_id });
  hold(again.is_duplicate === true && again.id === id, 'an interaction that is there was made again');
  await desk.v2.send('GET', `/interactions/${id}`, 200);
  const { body } = await desk.v2.send('GET', `/interactions?contact_id=${desk.person}&limit=20`, 200);
  hold(body.data.length <= SOURCES, `interactions: ${body.data.length}`);
}

/** A transcript by a fresh link, and by one that was altered; the meeting gets a deal. */
export async function readTranscript(desk: Desk): Promise<void> {
  const { body } = await desk.v2.send('GET', `/recordings/${desk.recording}`, 200);
  const link: string = body.data.transcript_url;
  const path = link.slice(link.indexOf('/transcripts/'));
  const transcript = await desk.v2.send('GET', path, 200, { key: '' });
  hold(transcript.body.data.segments.length === 40, 'a transcript that is not whole');
  const altered = path.slice(0, -1) + (path.endsWith('A') ? 'B' : 'A');
  await desk.v2.send('GET', altered, 404, { key: '' });
  const deal_id = desk.deals.at(-1);
  if (deal_id === undefined || desk.isBound) return;
  await desk.v2.send('PUT', `/meetings/${desk.meeting}/deal`, 200, { body: { deal_id } });
  await desk.v2.send('GET', `/meetings/${desk.meeting}/deal`, 200);
}
