// Walks the contract's rows: makes the records that a row's path and body name, each of its own, and sends it.
import { expect } from 'bun:test';
import type { Row } from './endpoints.ts';
import type { Harness, Json, Reply, Send } from './harness.ts';
import { insertReadOnly, insertTranscribed } from './read-only.ts';

const CREATES: Record<string, Json> = {
  contacts: { first_name: 'Walker' },
  companies: { name: 'Walkers' },
  deals: { name: 'Deal' },
  pipelines: { name: 'Pipe' },
  tasks: { name: 'Task' },
  notes: { title: 'Note' },
  segments: { name: 'Segment' },
};
// A parent and its linked child, prepared together.
const LINKED: Record<string, [parent: string, link: string, child: string, field: string, more?: Json]> = {
  linked: ['deals', 'contacts', 'child', 'contact_id'],
  dealing: ['deals', 'companies', 'firm', 'company_id'],
  noted: ['notes', 'records', 'subject', 'record_id', { record_type: 'contact' }],
  joined: ['segments', 'members', 'member', 'record_id'],
};

const DELETED = 'deleted_';

let count = 0;

/** Replaces every `{name}` by the id of a new record, and `$` by something unique. */
export async function prepared(harness: Harness, template: string): Promise<string> {
  count += 1;
  let text = template.replaceAll('$', `walk-${count}`);
  for (let name = firstName(text); name !== undefined; name = firstName(text)) {
    if (name === 'source') {
      const [path = ''] = text.split('/{source}');
      const body = { source: 'walker', id: `walk-${count}` };
      expect((await harness.send('POST', path, { body })).status).toBe(200);
      text = text.replaceAll('{source}', 'walker');
      continue;
    }
    if (name.startsWith(DELETED)) {
      const resource = name.slice(DELETED.length);
      const id = await create(harness, resource);
      expect((await harness.send('DELETE', `/api/v2/${resource}/${id}`)).status).toBe(204);
      text = text.replaceAll(`{${name}}`, id);
      continue;
    }
    const link = LINKED[name];
    if (link === undefined) {
      text = text.replaceAll(`{${name}}`, await create(harness, name));
      continue;
    }
    const [parents, collection, childName, field, more] = link;
    const parent = await create(harness, parents);
    const child = await create(harness, field === 'company_id' ? 'companies' : 'contacts');
    const body = { [field]: child, ...more };
    const reply = await harness.send('POST', `/api/v2/${parents}/${parent}/${collection}`, { body });
    expect(reply.status).toBe(200);
    text = text.replaceAll(`{${name}}`, parent).replaceAll(`{${childName}}`, child);
  }
  return text;
}

/** Sends a row with a key, by way of the harness unless told otherwise. */
export async function sendRow(
  harness: Harness,
  [method, path, , , body]: Row,
  key: string,
  send: Send = harness.send,
): Promise<Reply> {
  const input = body === undefined ? {} : { raw: await prepared(harness, body) };
  return send(method, await prepared(harness, path), { key, ...input });
}

async function create(harness: Harness, resource: string): Promise<string> {
  if (resource === 'webhooks') return createWebhook(harness);
  if (resource === 'recordings') return insertTranscribed(harness);
  if (resource === 'meetings' || resource === 'bookings') return insertReadOnly(harness, resource);
  const contact = { type: 'EMAIL', direction: 'INBOUND', title: 'T', main_contact_email: `i${count}@a.test` };
  const body = CREATES[resource] ?? contact;
  return (await harness.send('POST', `/api/v2/${resource}`, { body })).body.data.id;
}

const WEBHOOKS_KEPT = 10;

// By a key that reads contacts alone, which is then all that changing it needs.
async function createWebhook(harness: Harness): Promise<string> {
  const path = '/api/v2/webhooks';
  const { data: existing } = (await harness.send('GET', path)).body;
  // An organization can have only so many.
  for (const { id } of existing.slice(WEBHOOKS_KEPT)) await harness.send('DELETE', `${path}/${id}`);
  const { key } = await harness.issue({ scopes: ['webhooks:write', 'contacts:read'] });
  const body = { url: `https://walk-${count}.example.com/`, events: ['contacts.*'] };
  return (await harness.send('POST', path, { key, body })).body.data.id;
}

function firstName(text: string): string | undefined {
  return /\{(\w+)\}/.exec(text)?.[1];
}
