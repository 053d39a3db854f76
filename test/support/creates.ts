// The least that every create takes, in both versions, for tests that vary one field of it.
import type { Harness, Json, Reply } from './harness.ts';

let count = 0;

/** A function that sends a create to a path (`/api/v2/deals`), the given fields over the least that it takes. */
export async function creatorOf(harness: Harness): Promise<(path: string, fields: Json) => Promise<Reply>> {
  const reply = await harness.send('POST', '/api/v2/contacts', { body: { first_name: 'C' } });
  const contact: string = reply.body.data.id;
  const interaction = { type: 'EMAIL', direction: 'INBOUND', title: 'A' };
  const least: Record<string, () => Json> = {
    '/api/v2/contacts': () => ({ first_name: 'A' }),
    '/api/v2/companies': () => ({ name: 'A' }),
    '/api/v2/deals': () => ({ name: 'A' }),
    '/api/v2/pipelines': () => ({ name: 'A' }),
    '/api/v2/tasks': () => ({ name: 'A' }),
    '/api/v2/notes': () => ({ title: 'A' }),
    '/api/v2/segments': () => ({ name: 'A' }),
    '/api/v2/interactions': () => ({ ...interaction, main_contact: contact }),
    '/api/v1/people': () => ({ type: 'email', identifier: `v${count}@valid.test`, firstName: 'A' }),
    '/api/v1/companies': () => ({ domain: `v${count}.test` }),
    '/api/v1/interactions': () => ({ ...interaction, mainContact: contact }),
  };
  return (path, fields) => {
    count += 1;
    return harness.send('POST', path, { body: { ...least[path]?.(), ...fields } });
  };
}
