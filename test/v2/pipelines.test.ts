// Pipelines: stages in order, which keep their identity through changes and their deals through everything.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { type Client, clientOf, expectError, expectFault } from '../support/v2.ts';

const DEFAULTS = [
  ['Prospecting', 'open'],
  ['Discovery', 'open'],
  ['Proposal', 'open'],
  ['Negotiation', 'open'],
  ['Closed Won', 'won'],
  ['Closed Lost', 'lost'],
] as const;

let harness: Harness;
let api: Client;

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

const make = (...stages: Json[]) => api.create('pipelines', { name: 'P', stages });
const named = (...names: string[]) => names.map((name) => ({ name }));
const patch = (id: string, stages: Json[]) => api.patch(`/pipelines/${id}`, { stages });
const at = () => new Date(harness.clock.now).toISOString();

const defaultStages = DEFAULTS.map(([name, type], position) => ({
  id: expect.any(String),
  name,
  type,
  probability: null,
  position,
}));

test('every organization starts with one called Sales, with the default stages', async () => {
  const other = await api.withKey({ orgNumber: harness.otherOrgNumber });
  const [sales, ...more] = await other.list('/pipelines');
  expect(more).toEqual([]);
  expect(sales).toMatchObject({ name: 'Sales', stages: defaultStages });
});

describe('creating', () => {
  test('without stages gives the default ones', async () => {
    expect((await api.create('pipelines', { name: 'P' })).stages).toEqual(defaultStages);
  });

  test('keeps stages in order, with their own ids', async () => {
    const { id, stages } = await make(
      { name: 'A', type: 'won', probability: 0.25 },
      { name: 'A', type: 'lost', probability: 0 },
      { name: 'B', probability: 1 },
      { name: 'C', probability: null },
    );
    expect(stages.map(({ id: _, ...rest }: Json) => rest)).toEqual([
      { name: 'A', type: 'won', probability: 0.25, position: 0 },
      { name: 'A', type: 'lost', probability: 0, position: 1 },
      { name: 'B', type: 'open', probability: 1, position: 2 },
      { name: 'C', type: 'open', probability: null, position: 3 },
    ]);
    expect(new Set(stages.map((stage: Json) => stage.id)).size).toBe(4);
    expect((await api.fetch('pipelines', id)).stages).toEqual(stages);
  });

  test('takes 1 to 50 stages', async () => {
    expect((await make({ name: 'Only' })).stages).toHaveLength(1);
    const many = Array.from({ length: 51 }, (_, index) => ({ name: `Stage ${index}` }));
    expect((await make(...many.slice(1))).stages).toHaveLength(50);
    for (const stages of [[], many])
      expectFault(await api.post('/pipelines', { name: 'P', stages }), 'VALIDATION_OUT_OF_RANGE', 'stages');
  });

  test('refuses what a stage cannot be', async () => {
    const rows: [Json, string, string][] = [
      [{}, 'VALIDATION_REQUIRED_FIELD', 'name'],
      [{ name: 5 }, 'VALIDATION_FAILED', 'name'],
      [{ name: null }, 'VALIDATION_FAILED', 'name'],
      [{ name: '😀'.repeat(1_001) }, 'VALIDATION_OUT_OF_RANGE', 'name'],
      [{ name: 'A', type: 'done' }, 'VALIDATION_FAILED', 'type'],
      [{ name: 'A', probability: 1.01 }, 'VALIDATION_OUT_OF_RANGE', 'probability'],
      [{ name: 'A', probability: -0.01 }, 'VALIDATION_OUT_OF_RANGE', 'probability'],
      [{ name: 'A', probability: '0.5' }, 'VALIDATION_FAILED', 'probability'],
      [{ name: 'A', colour: 'red' }, 'VALIDATION_FAILED', 'colour'],
      [{ name: 'A', id: 'mine' }, 'VALIDATION_FAILED', 'id'],
      [{ name: 'A', position: 1 }, 'VALIDATION_FAILED', 'position'],
    ];
    for (const [stage, code, path] of rows) {
      const stages = [{ name: 'First' }, stage];
      expectFault(await api.post('/pipelines', { name: 'P', stages }), code, `stages.1.${path}`);
    }
    for (const stages of ['A', {}, null, 5])
      expectFault(await api.post('/pipelines', { name: 'P', stages }), 'VALIDATION_FAILED', 'stages');
    for (const stage of ['A', null, []])
      expectFault(
        await api.post('/pipelines', { name: 'P', stages: [stage] }),
        'VALIDATION_FAILED',
        'stages.0',
      );
  });
});

describe('changing the stages', () => {
  test('replaces the list: kept ones by id, new ones, removed ones, in the new order', async () => {
    const before = await make(...named('A', 'B', 'C'));
    const [a, b, c] = before.stages;
    harness.clock.now += 1_000;
    const after = await api.update('pipelines', before.id, {
      stages: [
        { id: c.id, name: 'C2', type: 'won', probability: 0.9 },
        { name: 'D' },
        { id: a.id, name: 'A' },
      ],
    });
    expect(after.stages).toEqual([
      { id: c.id, name: 'C2', type: 'won', probability: 0.9, position: 0 },
      { id: expect.any(String), name: 'D', type: 'open', probability: null, position: 1 },
      { ...a, position: 2 },
    ]);
    expect([a.id, b.id, c.id]).not.toContain(after.stages[1].id);
    expect(after).toMatchObject({ name: before.name, created_at: before.created_at, updated_at: at() });
    expect(await api.fetch('pipelines', before.id)).toEqual(after);
  });

  test('takes back what a response shows', async () => {
    const { id, stages } = await make({ name: 'A', probability: 0.1 }, { name: 'B', type: 'lost' });
    expect((await api.update('pipelines', id, { stages })).stages).toEqual(stages);
    expect((await api.update('pipelines', id, { name: 'Renamed' })).stages).toEqual(stages);
  });

  test('a stage that is kept keeps what is not mentioned, its name included', async () => {
    const { id, stages } = await make({ name: 'A', probability: 0.1 }, { name: 'B', type: 'lost' });
    const [a, b] = stages;
    const after = await api.update('pipelines', id, { stages: [{ id: b.id, probability: 0 }, { id: a.id }] });
    expect(after.stages).toEqual([
      { ...b, probability: 0, position: 0 },
      { ...a, position: 1 },
    ]);
  });

  test('a stage without id is a new one, also under an old name', async () => {
    const { id, stages } = await make(...named('A', 'B'));
    const after = await api.update('pipelines', id, { stages: named('A', 'B') });
    const before = stages.map((stage: Json) => stage.id);
    for (const stage of after.stages) expect(before).not.toContain(stage.id);
  });

  test('refuses positions that disagree with the order, and ids that are not its own', async () => {
    const { id, stages } = await make(...named('A', 'B'));
    const [a, b] = stages;
    const other = (await make(...named('X'))).stages[0];
    const refuse = async (body: Json[], ...paths: string[]) =>
      expectError(await patch(id, body), 422, 'VALIDATION_FAILED', ...paths);
    await refuse([b, a], 'stages.0.position', 'stages.1.position');
    await refuse([{ ...a, position: 1 }], 'stages.0.position');
    await refuse([{ name: 'N', position: 3 }], 'stages.0.position');
    await refuse([{ id: other.id, name: 'X' }], 'stages.0.id');
    await refuse([{ id: 'absent', name: 'X' }], 'stages.0.id');
    await refuse(
      [
        { id: a.id, name: 'A' },
        { id: a.id, name: 'A' },
      ],
      'stages.1.id',
    );
    expectFault(await patch(id, []), 'VALIDATION_OUT_OF_RANGE', 'stages');
    expectFault(await patch(id, [{ type: 'won' }]), 'VALIDATION_REQUIRED_FIELD', 'stages.0.name');
    expectFault(await patch(id, [{ id: a.id, name: null }]), 'VALIDATION_FAILED', 'stages.0.name');
    expect((await api.fetch('pipelines', id)).stages).toEqual(stages);
  });

  test('a stage that deals are in cannot be removed; once they have left it can', async () => {
    const before = await make(...named('A', 'B', 'C'));
    const [a, b, c] = before.stages;
    const deal = await api.create('deals', { name: 'D', pipeline_id: before.id, stage_id: b.id });
    const reply = await patch(before.id, [a]);
    expectError(reply, 409, 'RESOURCE_CONFLICT');
    expect(await api.fetch('pipelines', before.id)).toEqual(before);
    await api.update('pipelines', before.id, { stages: [a, b] });
    await api.update('deals', deal.id, { stage_id: a.id });
    await api.update('pipelines', before.id, { stages: [a] });
    expectFault(await api.patch(`/deals/${deal.id}`, { stage_id: c.id }), 'VALIDATION_FAILED', 'stage_id');
  });

  test('a stage that changes its type takes its deals along', async () => {
    const { id, stages } = await make(...named('A', 'B'));
    const [a, b] = stages;
    const inA = await api.create('deals', { name: 'D', pipeline_id: id, stage_id: a.id });
    const inB = await api.create('deals', { name: 'D', pipeline_id: id, stage_id: b.id });
    const retype = async (type: string) => {
      harness.clock.now += 1_000;
      await api.update('pipelines', id, { stages: [{ ...a, type }, b] });
      return api.fetch('deals', inA.id);
    };
    for (const type of ['won', 'lost'])
      expect(await retype(type)).toMatchObject({
        status: type,
        closed_at: at(),
        stage_changed_at: inA.stage_changed_at,
      });
    expect(await retype('open')).toMatchObject({ status: 'open', closed_at: null });
    expect(await api.fetch('deals', inB.id)).toEqual(inB);
    expect(await api.ids('/deals?status=won')).not.toContain(inA.id);
  });

  test('however many they are', async () => {
    const { id, stages } = await make(...named('A'));
    const deals = Array(100).fill({ name: 'D', pipeline_id: id });
    for (let batch = 0; batch < 11; batch++) await api.post('/deals/batch', deals);
    await api.update('pipelines', id, { stages: [{ ...stages[0], type: 'won' }] });
    const stored = harness.store.read.selectFrom('deals' as 'records').select('status');
    const statuses = (await stored.where('pipeline_id', '=', id).execute()).map(({ status }) => status);
    expect(statuses).toEqual(Array(1_100).fill('won'));
  });
});

test('a pipeline that deals use cannot be deleted; its stages go with it', async () => {
  const { id, stages } = await make(...named('A'));
  const deal = await api.create('deals', { name: 'D', pipeline_id: id });
  expectError(await api.del(`/pipelines/${id}`), 409, 'RESOURCE_CONFLICT');
  expect((await api.fetch('pipelines', id)).stages).toEqual(stages);
  await api.del(`/deals/${deal.id}`);
  expect((await api.del(`/pipelines/${id}`)).status).toBe(204);
  const body = { name: 'D', stage_id: stages[0].id };
  expectFault(await api.post('/deals', body), 'VALIDATION_FAILED', 'stage_id');
});
