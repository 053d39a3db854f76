// What is made by chance has one place each in a transcript, whatever characters it has.
import { expect, test } from 'bun:test';
import type { Harness } from './harness.ts';
import { Transcript } from './transcript.ts';

const CURSOR = 'Ab-req_0123456789abcdefghij0123';
const ID = '01890000-0000-7000-8000-000000000000';

test('a cursor that has the beginning of a request ID in it is one thing, in an answer as in a query', async () => {
  const transcript = new Transcript();
  const text = `{"id":"${ID}","end_cursor":"${CURSOR}","request_id":"req_abcdefghijabcdefghij"}`;
  const harness = { send: async () => ({ status: 200, headers: new Headers(), text }) };
  const { send } = transcript.of(harness as unknown as Harness);
  await send('GET', `/api/v2/tasks?cursor=${CURSOR}`);
  expect(transcript.lines).toEqual([
    'GET /api/v2/tasks?cursor=‹1›  \n→ 200 [] {"id":"‹2›","end_cursor":"‹1›","request_id":"‹3›"}',
  ]);
});
