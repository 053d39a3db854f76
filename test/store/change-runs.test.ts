// Rows of the log for several records that were created together.
import { expect, test } from 'bun:test';
import { changesIn, changesOf, runOf } from '../../db/changes/runs.ts';
import type { ChangeRow } from '../../db/engine/change-row.ts';
import { idOfBytes, textBytes } from '../../db/tables/id-bytes.ts';
import { recordId } from '../../db/tables/record-id.ts';

const [alice, bob] = [crypto.randomUUID(), crypto.randomUUID()];
const rest = {
  ...{ org_id: 1, at: 5, action: 0, resource: 0, actor: 1 },
  ...{ request: null, cause: null, data: null, company: null },
};
const madeFor = (...owners: (string | null)[]) =>
  owners.map((owner) => ({ id: recordId(Date.now()), owner }));
const rowOf = (run: NonNullable<ReturnType<typeof runOf>>, sequence: number): ChangeRow => ({
  ...{ ...rest, sequence },
  ...{ record: run.record, owner: run.owner },
});
const shown = ({ sequence, record, owner }: ChangeRow) => [
  sequence,
  idOfBytes(record),
  owner && idOfBytes(owner),
];

test.each([[[null, null, null]], [[alice, alice]], [[alice, null, bob]], [[null, bob]]])(
  'a run of records of %p has each of them with its owner',
  (owners) => {
    const created = madeFor(...owners);
    const run = runOf(created);
    if (run === null) throw new Error('is no run');
    const row = rowOf(run, 10 + owners.length);
    expect([run.count, changesIn(row)]).toEqual([owners.length, owners.length]);
    const all = created.map(({ id, owner }, index) => [11 + index, id, owner]);
    const wanted = { from: 1, to: 100, direction: 'asc' } as const;
    expect(changesOf(row, wanted).map(shown)).toEqual(all);
    expect(changesOf(row, { ...wanted, direction: 'desc' }).map(shown)).toEqual(all.toReversed());
    expect(changesOf(row, { ...wanted, from: 12 }).map(shown)).toEqual(all.slice(1));
    expect(changesOf(row, { ...wanted, to: 11, direction: 'desc' }).map(shown)).toEqual(all.slice(0, 1));
  },
);

test('one owner of all is stored once, and none takes no room', () => {
  expect(runOf(madeFor(alice, alice, alice))?.owner).toHaveLength(16);
  expect(runOf(madeFor(null, null, null))?.owner).toBe(null);
});

test.each([
  ['one record', madeFor(null)],
  ['an ID that is no UUID', [...madeFor(null), { id: 'x'.repeat(36), owner: null }]],
  ['an ID of another length', [...madeFor(null), { id: 'short', owner: null }]],
  ['an owner that is no UUID', madeFor(alice, 'someone')],
  [
    'IDs from before 2005, which look like other texts',
    [1, 2].map((now) => ({ id: recordId(now), owner: null })),
  ],
])('there is no run of %s', (_, created) => {
  expect(runOf(created)).toBe(null);
});

test.each(['x'.repeat(31), recordId(1), recordId(Date.now())])('the row of %s alone has one change', (id) => {
  const row = { ...rest, sequence: 3, record: textBytes(id), owner: null };
  expect(changesIn(row)).toBe(1);
  expect(changesOf(row, { from: 3, to: 3, direction: 'asc' })).toEqual([row]);
});

const uuid = '01a20af8-1108-774a-8cc4-ed614f7b951b';

test.each([
  uuid,
  uuid.toUpperCase(),
  uuid.replace('a', 'g'),
  uuid.replaceAll('-', ''),
  `${uuid}0`,
  // As UTF-16, it ends with the byte of a 6.
  uuid.replace('6', 'ж'),
  'x'.repeat(15),
  'seg_1',
])('the bytes of the ID %p are those of no other', (id) => {
  expect(idOfBytes(textBytes(id))).toBe(id);
  expect(textBytes(id).length === 16).toBe(id === uuid);
});
