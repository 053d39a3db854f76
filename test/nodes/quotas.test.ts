// A quota that two nodes hold to together: no more is written than it allows, and what is counted is what there is.
import { afterEach, expect, test } from 'bun:test';
import type { Json, Reply } from '../support/harness.ts';
import { type Nodes, startNodes } from '../support/nodes.ts';
import { describe } from '../support/on-postgres.ts';
import { countedIn, recordTotalsOf, setQuota } from '../support/quota.ts';

let nodes: Nodes;
afterEach(() => nodes.close());

describe('two nodes', () => {
  test('write as many records as the quota allows of what comes to both at once', async () => {
    nodes = await startNodes();
    await setQuota(nodes.first, { records: 41 });
    const send = (index: number): Promise<Reply> => {
      const item = { first_name: `C${index}` };
      const node = nodes.all[index % 2] ?? nodes.all[0];
      return index % 10 === 0
        ? node.send('POST', '/api/v2/contacts/batch', { body: [item, item, item] })
        : node.send('POST', '/api/v2/contacts', { body: item });
    };
    const replies = await Promise.all(Array.from({ length: 100 }, (_, index) => send(index)));
    const written = replies.reduce((sum, { status, body }) => {
      if (status === 201) return sum + 1;
      return sum + (status === 200 ? (body as Json).data.summary.succeeded : 0);
    }, 0);
    expect(written).toBe(40);
    expect((await recordTotalsOf(nodes.first)).records).toBe(41);
    expect(await countedIn(nodes.first)).toEqual(await recordTotalsOf(nodes.first));
  });

  test('hold from the next request on to what is set meanwhile, and give room back to each other', async () => {
    nodes = await startNodes();
    const [one, other] = nodes.all;
    const create = (node: typeof one) => node.send('POST', '/api/v2/notes', { body: { title: 'A' } });
    const { body } = await create(one);
    await setQuota(nodes.first, { records: 2 });
    expect([(await create(one)).status, (await create(other)).status]).toEqual([403, 403]);
    expect((await other.send('DELETE', `/api/v2/notes/${body.data.id}`)).status).toBe(204);
    expect([(await create(one)).status, (await create(other)).status]).toEqual([201, 403]);
    await setQuota(nodes.first, {});
    expect((await create(other)).status).toBe(201);
  });
});
