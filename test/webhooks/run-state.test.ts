// What a server knows of the sending to one webhook.
import { expect, test } from 'bun:test';
import type { WebhookRow } from '../../db/engine/webhook-rows.ts';
import { RunState } from '../../server/webhooks/run-state.ts';

test('a replay that is over when what was read of it arrives does not begin again', async () => {
  const row = { org_id: 1, id: 'w', place: 5, epoch: 'e', skipped_at: null, failing_since: null };
  const state = new RunState({ ...row, last_success_at: null } as unknown as WebhookRow);
  const pass = { org_id: 1, webhook_id: 'w', pass: 1, place: 0, last: 3 };
  const passes = () => state.passes.map((one) => one.pass);
  await state.beginReplays(async () => [pass]);
  expect(passes()).toEqual([0, 1]);
  for (const one of state.passes) if (one.last !== null) one.cursor = one.last;
  await state.beginReplays(async () => {
    state.takeStep(false).commit();
    return [pass];
  });
  expect(passes()).toEqual([0]);
});
