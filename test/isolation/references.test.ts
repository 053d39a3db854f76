// The isolation matrix, for every field of a body that names a record: a hidden one is refused in the words of an absent one.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { describedOperations } from '../../server/interface.ts';
import type { Operation } from '../../server/operation.ts';
import { expectRefusal } from '../support/envelope.ts';
import { dumpOf } from '../support/full-organization.ts';
import type { Json, Reply } from '../support/harness.ts';
import { ABSENT, minimalBody, uniqueEmail } from '../support/v2.ts';
import { expectAlike, expectNoTrace, type Fixture, type Hidden, startFixture } from './cells.ts';

let fixture: Fixture;
let before: unknown[];
beforeAll(async () => {
  fixture = await startFixture();
  before = await dumps();
});
afterAll(() => fixture.harness.close());

const dumps = () => Promise.all(Object.values(fixture.hidden).map((world) => dumpOf(fixture.harness, world)));

/** What a field of that name holds the id of. */
const TARGETS: Record<string, string> = {
  company_id: 'companies',
  company_ids: 'companies',
  contact_id: 'contacts',
  contact_ids: 'contacts',
  deal_id: 'deals',
  main_assignee_id: 'users',
  main_contact: 'contacts',
  mainContact: 'contacts',
  owner_id: 'users',
  parent_id: 'notes',
  person_id: 'contacts',
  pipeline_id: 'pipelines',
  point_of_contact_id: 'contacts',
  record_id: 'contacts',
  stage_id: 'stages',
  supervisor: 'contacts',
};
// Of other services.
const FOREIGN = /^(?:primary|secondary|external)_?id$/i;
const NAMING = /(?:_ids?|Id)$|^(?:owner|mainContact|main_contact|supervisor)$/;

const LINKS = '/api/v2/links/batch';

/** So that none goes missing unseen. */
const CELLS_MIN = 173;

interface Cell {
  operation: Operation;
  field: string;
  isList: boolean;
  target: string;
  whose: Hidden;
}

const CELLS: Cell[] = describedOperations().flatMap((operation) => {
  const { properties = {} } = (operation.body ?? {}) as { properties?: Record<string, unknown> };
  // The parent of a link is missing as one in a path is: the matrix has it.
  const isElsewhere = (field: string) => operation.path.startsWith(LINKS) && field === 'parent_id';
  const fields = Object.keys(properties).filter(
    (field) => NAMING.test(field) && !FOREIGN.test(field) && !isElsewhere(field),
  );
  return fields.flatMap((field) => {
    const target = TARGETS[field] ?? '';
    const cell = { operation, field, isList: field.endsWith('_ids'), target };
    const isEverybodys = operation.api === 'v1' || target === 'pipelines' || target === 'stages';
    const other: Cell = { ...cell, whose: 'other organization' };
    return isEverybodys ? [other] : [other, { ...cell, whose: 'other user' } as Cell];
  });
});

/** Sends the operation with that id in the field, and all else as it must be. */
async function sendWith({ operation, field, isList, whose }: Cell, id: string): Promise<Reply> {
  const { harness, own, askers } = fixture;
  const path = operation.path.replace('{id}', own.ids[operation.path.split('/')[3] ?? ''] ?? '');
  const body = { ...(await leastOf(operation, field)), [field]: isList ? [id] : id };
  const input = { key: askers[whose][operation.api], body: operation.isBatch === true ? [body] : body };
  return harness.send(operation.method, path, input);
}

async function leastOf({ method, path, api }: Operation, field: string): Promise<Json> {
  const [, , , resource = '', , child] = path.split('/');
  if (path.endsWith('/batch/update')) return { id: fixture.own.ids[resource] };
  if (path.endsWith('/upsert'))
    return { ...minimalBody(resource), external_id: { source: 'isolation', id: crypto.randomUUID() } };
  if (api === 'v1') return { type: 'EMAIL', direction: 'INBOUND', title: 'A' };
  if (child === 'records') return { record_type: 'contact' };
  if (path === LINKS)
    return { of: 'deals.contacts', parent_id: fixture.own.ids.deals, id: fixture.own.ids.contacts };
  if (field === 'supervisor') return { contact_id: fixture.own.ids.contacts };
  if (method !== 'POST' || child === 'contacts' || child === 'companies' || child === 'members') return {};
  const { main_contact_email: _, ...least } = minimalBody(resource);
  if (resource === 'interactions' && field !== 'main_contact')
    return { ...least, main_contact_email: uniqueEmail() };
  return least;
}

const titleOf = ({ operation: { method, path }, field, whose }: Cell) =>
  `${method} ${path} ${field} of the ${whose}`;

describe('a body that names a record', () => {
  test.each(CELLS.map((cell): [string, Cell] => [titleOf(cell), cell]))('%s', async (_, cell) => {
    const { operation, field, isList, target, whose } = cell;
    const path = isList ? `${field}.0` : field;
    const hidden = fixture.hidden[whose];
    const id = hidden.ids[target];
    if (id === undefined || id === '') throw new Error(`nothing to name as ${field}`);
    const reply = await sendWith(cell, id);
    // Giving a record away is refused, to any user.
    const isGiven = whose === 'other user' && target === 'users';
    const [status, code] = isGiven ? [403, 'OPERATION_FORBIDDEN'] : [422, 'VALIDATION_FAILED'];
    if (operation.isBatch === true) {
      const [item] = reply.body.data.items;
      expect([reply.status, item.error.code]).toEqual([200, code]);
      expect(item.error.details?.map((detail: Json) => detail.path) ?? [path]).toEqual([path]);
    } else if (isGiven) expectRefusal(reply, Number(status), String(code));
    else
      expectRefusal(
        reply,
        422,
        'VALIDATION_FAILED',
        [[path, 'VALIDATION_FAILED']],
        operation.api === 'v1' ? '1' : '2',
      );
    expectAlike(reply, await sendWith(cell, ABSENT), hidden);
  });

  test('every field that may name one is among them, and all of them are refused', () => {
    expect(CELLS.filter(({ target }) => target === '')).toEqual([]);
    expect(CELLS.length).toBeGreaterThanOrEqual(CELLS_MIN);
  });
});

test("a stage of another organization's pipeline is none of one's own", async () => {
  const { harness, own, hidden } = fixture;
  const { stages = '' } = hidden['other organization'].ids;
  const send = (id: string) =>
    harness.send('PATCH', `/api/v2/pipelines/${own.ids.pipelines}`, {
      body: { stages: [{ id, name: 'Mine' }] },
    });
  const reply = await send(stages);
  expect(reply.status).toBe(422);
  expectAlike(reply, await send(ABSENT), hidden['other organization']);
});

test("an interaction about a hidden contact's email says nothing of the contact", async () => {
  const { harness, hidden, askers } = fixture;
  const { main_contact_email: _, ...least } = minimalBody('interactions');
  const { mark, ids } = hidden['other user'];
  const body = { ...least, main_contact_email: `${mark}-0@hidden.example` };
  const reply = await harness.send('POST', '/api/v2/interactions', { key: askers['other user'].v2, body });
  expect([reply.status, reply.text.includes(ids.contacts ?? '')]).toEqual([422, false]);
  const other = { ...least, main_contact_email: `${hidden['other organization'].mark}-0@hidden.example` };
  const made = await harness.send('POST', '/api/v2/interactions', { body: other });
  expect(made.status).toBe(201);
  expectNoTrace({ ...made, text: made.text }, { ...hidden['other organization'], mark: '' });
});

test('and nothing of what was hidden has changed', async () => {
  expect(await dumps()).toEqual(before as never);
});
