// What a filter names or looks for beyond what a key sees is found nowhere, and nothing of it shows.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Json } from '../support/harness.ts';
import { FILTERED_FIELDS, sortsOf } from '../support/query-contract.ts';
import { clientOf } from '../support/v2.ts';
import { expectAlike, expectNoTrace, type Fixture, startFixture } from './cells.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture();
});
afterAll(() => fixture.harness.close());

const RESOURCES = Object.keys(FILTERED_FIELDS);

for (const whose of ['other organization', 'other user'] as const) {
  describe(`records of the ${whose}`, () => {
    for (const resource of RESOURCES) {
      const isShared = whose === 'other user' && resource === 'pipelines';
      test.if(!isShared)(`${resource} are in no page and no count`, async () => {
        const { hidden, askers } = fixture;
        const api = clientOf(fixture.harness, askers[whose].v2);
        for (const sort_by of sortsOf(resource)) {
          const reply = await api.post(`/${resource}/query`, { sort_by, limit: 200 });
          expect(reply.status).toBe(200);
          // A record that is seen can refer to a hidden one only by its ID.
          if (whose === 'other organization') expectNoTrace(reply, hidden[whose]);
          expect(reply.body.data.map(({ id }: Json) => id)).not.toContain(hidden[whose].ids[resource]);
          const { data } = (await api.post(`/${resource}/count`, {})).body;
          expect(data).toEqual({ count: reply.body.data.length, is_exact: true });
        }
      });

      for (const [name, kind] of Object.entries(FILTERED_FIELDS[resource] ?? {})) {
        if (!['id', 'ids', 'link'].includes(kind) || isShared) continue;
        test(`${resource} are not found by ${name}`, async () => {
          const { hidden, askers, harness } = fixture;
          const api = clientOf(harness, askers[whose].v2);
          const operator = kind === 'id' ? 'in' : 'any_of';
          const other = Object.entries(hidden[whose].ids).filter(
            ([of]) => of !== 'pipelines' && of !== 'stages',
          );
          const ids = other.flatMap(([of, id]) => (of === 'users' || id === '' ? [] : [id]));
          const body = (values: string[]) => ({ filter: { [name]: { [operator]: values } } });
          const absent = ids.map((_, index) => `019b76da-a800-7000-8000-${String(index).padStart(12, '0')}`);
          for (const path of [`/${resource}/query`, `/${resource}/count`]) {
            const reply = await api.post(path, body(ids));
            expect(reply.status).toBe(200);
            expectAlike(reply, await api.post(path, body(absent)), hidden[whose]);
            expect(reply.body.data.count ?? reply.body.data.length).toBe(0);
          }
        });
      }
    }
  });
}

test('a link whose other end the key may not read is refused', async () => {
  const { harness } = fixture;
  for (const [resource, fields] of Object.entries(FILTERED_FIELDS)) {
    for (const [name, kind] of Object.entries(fields)) {
      if (kind !== 'link') continue;
      const { key } = await harness.issue({ scopes: [`${resource}:read`] });
      const api = clientOf(harness, key);
      for (const path of [`/${resource}/query`, `/${resource}/count`]) {
        const reply = await api.post(path, { filter: { or: [{ not: { [name]: { is_null: true } } }] } });
        expect([reply.status, reply.body.error?.code]).toEqual([403, 'AUTH_INSUFFICIENT_SCOPE']);
        expect(reply.body.error.message).toContain(`${name}:read`);
      }
    }
  }
});
