// The ledger of a soak: it hears of what was lost, doubled or made again, and of nothing that may be so.
import { describe, expect, test } from 'bun:test';
import { type Found, Ledger } from './killed/ledger.ts';
import { ABSENT } from './killed/state.ts';

/** A ledger with one contact that was acknowledged and then changed, without an answer. */
function changed() {
  const ledger = new Ledger();
  const entry = ledger.add({ resource: 'contacts', label: 'A', id: null, may: [ABSENT] });
  ledger.begin(entry, 'new');
  ledger.settle(entry, 'new', 'id');
  ledger.begin(entry, 'other');
  return ledger;
}

const row = (fields: Partial<Found> = {}): Found => ({ id: 'id', label: 'A', state: 'new', ...fields });

describe('what was found of a record', () => {
  const CASES: [string, Found[], lost: number, doubled: number][] = [
    ['as it was', [row()], 0, 0],
    ['as it was to be', [row({ state: 'other' })], 0, 0],
    ['beside another', [row(), row({ label: 'B' })], 0, 0],
    ['not at all', [], 1, 0],
    ['as nobody wrote it', [row({ state: 'third' })], 1, 0],
    ['under another id', [row({ id: 'made again' })], 1, 0],
    ['twice', [row(), row({ id: 'made again' })], 0, 1],
  ];
  test.each(CASES)('%s', (_, found, lost, doubled) => {
    const ledger = changed();
    ledger.check(ledger.touched, found);
    expect([ledger.lost, ledger.doubled, ledger.faults.length]).toEqual([lost, doubled, lost + doubled]);
  });

  test('is what it says from then on', () => {
    const ledger = changed();
    ledger.check(ledger.touched, [row({ state: 'other' })]);
    ledger.check(ledger.entries.values(), [row()]);
    expect(ledger.lost).toBe(1);
  });
});
