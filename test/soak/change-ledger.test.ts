// The ledger of changes: it finds what is missing from the log, what is in it twice, and what nobody wrote.
import { expect, test } from 'bun:test';
import type { Json } from '../support/json.ts';
import { ChangeLedger } from './killed/change-ledger.ts';
import { ABSENT, type State } from './killed/state.ts';

const change = (sequence: number, fields: Json): Json => ({
  ...{ sequence, resource: 'contacts', record_id: 'a', request_id: `r${sequence}`, cause: null },
  ...{ before: null, after: null, ...fields },
});
const retitle = (from: string, to: string) => ({
  action: 'updated',
  before: { title: from },
  after: { title: to },
});

const CREATED = change(1, { action: 'created' });
const UPDATED = change(2, retitle('new', 'other'));
const UNLINKED = { action: 'unlinked', resource: 'deals', record_id: 'd', request_id: 'r3', cause: 3 };
const LOG = [
  CREATED,
  UPDATED,
  change(3, { action: 'deleted', before: { title: 'other' } }),
  change(4, UNLINKED),
  change(5, UNLINKED),
];

/** What is wrong with a log after an acknowledged create, update and delete, of which this state is left. */
function faultsOf(log: Json[], state: State = ABSENT): string[] {
  const ledger = new ChangeLedger();
  for (const [index, kind] of ['created', 'updated', 'deleted'].entries())
    ledger.expect(`r${index + 1}`, `${kind} contacts`, ['a']);
  for (const one of log) ledger.see(one);
  ledger.settle();
  ledger.compare('a', 'A', state);
  return ledger.faults;
}

test('a log with a change for each write has no fault', () => {
  expect(faultsOf(LOG)).toEqual([]);
});

const CASES: [name: string, log: Json[], state?: State][] = [
  ['without a write', LOG.toSpliced(1, 1)],
  ['without the first one', LOG.slice(1)],
  ['without the last one', LOG.slice(0, 2)],
  ['with one twice', [...LOG.slice(0, 2), change(2, UPDATED), ...LOG.slice(2)]],
  ['with one of a request that was not sent for it', [...LOG, change(6, { action: 'created' })]],
  ['with one that begins with another value', LOG.toSpliced(1, 1, change(2, retitle('third', 'other')))],
  ['with one that leaves another value', LOG.toSpliced(1, 1, change(2, retitle('new', 'third')))],
  ['with what another change is said to have caused', [...LOG, change(6, { ...UNLINKED, cause: 2 })]],
  ['of a delete that did not happen', LOG, 'other'],
];
for (const [name, log, state] of CASES)
  test(`a log ${name} has one`, () => {
    expect(faultsOf(log, state)).not.toEqual([]);
  });
