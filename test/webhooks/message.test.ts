// The IDs of messages, by which receivers know what they already have.
import { expect, test } from 'bun:test';
import { changeMessage } from '../../server/webhooks/message.ts';

const KEY = '00'.repeat(32);
const of = { webhookId: 'w', epoch: '', sequence: 7 };
const change = { resource: 'tasks', action: 'created', at: '2026-01-05T00:00:00.000Z' };

test('a change has one ID, also with the record as it is later', () => {
  const { id } = changeMessage(KEY, of, change);
  expect(id).toMatch(/^msg_[\w-]{27}$/);
  expect(changeMessage(KEY, of, { ...change, record: { name: 'Renamed' } }).id).toBe(id);
});

test('no other change has it, nor the same one for another webhook', () => {
  const ids = [
    changeMessage(KEY, of, change),
    changeMessage(KEY, { ...of, webhookId: 'v' }, change),
    changeMessage(KEY, { ...of, epoch: 'after a restore' }, change),
    changeMessage(KEY, { ...of, sequence: 8 }, change),
    // Which got the number of a change that was lost.
    changeMessage(KEY, of, { ...change, at: '2026-01-05T00:00:01.000Z' }),
    changeMessage('11'.repeat(32), of, change),
  ].map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});
