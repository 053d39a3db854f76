// Deals: their place in a pipeline, and the status and times that follow from it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { type Client, clientOf, expectError, expectFault } from '../support/v2.ts';

let harness: Harness;
let api: Client;
/** The pipeline every organization starts with, and another. */
let sales: Json;
let partners: Json;

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
  harness.clock.now += 1_000;
  partners = await api.create('pipelines', {
    name: 'Partners',
    stages: [
      { name: 'Talk' },
      { name: 'Won', type: 'won' },
      { name: 'Won late', type: 'won' },
      { name: 'Lost', type: 'lost' },
    ],
  });
  sales = (await api.list('/pipelines?sort_direction=asc'))[0];
});
afterAll(() => harness.close());

const stageOf = (pipeline: Json, name: string): string =>
  pipeline.stages.find((stage: Json) => stage.name === name).id;
const at = () => new Date(harness.clock.now).toISOString();

describe('where a new deal goes', () => {
  test("to the oldest pipeline's first stage", async () => {
    expect(await api.create('deals', { name: 'D' })).toMatchObject({
      pipeline_id: sales.id,
      stage_id: stageOf(sales, 'Prospecting'),
      status: 'open',
      stage_changed_at: at(),
      closed_at: null,
    });
  });

  test("to the given pipeline's first stage", async () => {
    const deal = await api.create('deals', { name: 'D', pipeline_id: partners.id });
    expect(deal).toMatchObject({ pipeline_id: partners.id, stage_id: stageOf(partners, 'Talk') });
  });

  test('to the given stage, with its status and, closed, its time', async () => {
    const rows: [Json, string, string][] = [
      [sales, 'Discovery', 'open'],
      [sales, 'Closed Won', 'won'],
      [sales, 'Closed Lost', 'lost'],
      [partners, 'Won late', 'won'],
    ];
    for (const [pipeline, name, status] of rows) {
      const stage_id = stageOf(pipeline, name);
      const deal = await api.create('deals', { name: 'D', pipeline_id: pipeline.id, stage_id });
      expect(deal).toMatchObject({
        stage_id,
        status,
        stage_changed_at: at(),
        closed_at: status === 'open' ? null : at(),
      });
    }
    const deal = await api.create('deals', { name: 'D', stage_id: stageOf(sales, 'Proposal') });
    expect(deal.pipeline_id).toBe(sales.id);
  });

  test('not to a stage of another pipeline, nor to one that does not exist', async () => {
    const rows: [Json, string][] = [
      [{ stage_id: stageOf(partners, 'Won') }, 'stage_id'],
      [{ pipeline_id: partners.id, stage_id: stageOf(sales, 'Proposal') }, 'stage_id'],
      [{ stage_id: 'absent' }, 'stage_id'],
      [{ pipeline_id: 'absent' }, 'pipeline_id'],
      [{ pipeline_id: 'absent', stage_id: stageOf(sales, 'Proposal') }, 'pipeline_id'],
      [{ pipeline_id: sales.stages[0].id }, 'pipeline_id'],
    ];
    for (const [place, path] of rows)
      expectFault(await api.post('/deals', { name: 'D', ...place }), 'VALIDATION_FAILED', path);
  });

  test("not to another organization's pipeline", async () => {
    const other = await api.withKey({ orgNumber: harness.otherOrgNumber });
    const body = { name: 'D', pipeline_id: partners.id, stage_id: stageOf(partners, 'Won') };
    expectFault(await other.post('/deals', body), 'VALIDATION_FAILED', 'pipeline_id');
    const stage_id = stageOf(sales, 'Proposal');
    expectFault(await other.post('/deals', { name: 'D', stage_id }), 'VALIDATION_FAILED', 'stage_id');
  });
});

describe('a deal that moves', () => {
  test('keeps its times where the stage stays', async () => {
    const deal = await api.create('deals', { name: 'D', stage_id: stageOf(sales, 'Closed Won') });
    harness.clock.now += 1_000;
    const changes = [
      { name: 'E' },
      { stage_id: deal.stage_id },
      { pipeline_id: sales.id, stage_id: deal.stage_id },
    ];
    for (const change of changes) {
      const { status, stage_changed_at, closed_at, stage_id } = await api.update('deals', deal.id, change);
      expect({ status, stage_changed_at, closed_at, stage_id }).toEqual({
        status: 'won',
        stage_changed_at: deal.created_at,
        closed_at: deal.created_at,
        stage_id: deal.stage_id,
      });
    }
  });

  test('is closed, moved among closed stages, and reopened', async () => {
    const { id } = await api.create('deals', { name: 'D', pipeline_id: partners.id });
    const move = async (stage: string) => {
      harness.clock.now += 1_000;
      return api.update('deals', id, { stage_id: stageOf(partners, stage) });
    };
    expect(await move('Won')).toMatchObject({ status: 'won', stage_changed_at: at(), closed_at: at() });
    const closed = at();
    expect(await move('Won late')).toMatchObject({
      status: 'won',
      stage_changed_at: at(),
      closed_at: closed,
    });
    expect(await move('Lost')).toMatchObject({ status: 'lost', stage_changed_at: at(), closed_at: at() });
    expect(await move('Talk')).toMatchObject({ status: 'open', stage_changed_at: at(), closed_at: null });
    expect((await api.fetch('deals', id)).closed_at).toBeNull();
  });

  test("goes to another pipeline's first stage, or to the one that is named", async () => {
    const { id } = await api.create('deals', { name: 'D', stage_id: stageOf(sales, 'Closed Lost') });
    harness.clock.now += 1_000;
    expect(await api.update('deals', id, { pipeline_id: partners.id })).toMatchObject({
      pipeline_id: partners.id,
      stage_id: stageOf(partners, 'Talk'),
      status: 'open',
      stage_changed_at: at(),
      closed_at: null,
    });
    const back = { pipeline_id: sales.id, stage_id: stageOf(sales, 'Negotiation') };
    expect(await api.update('deals', id, back)).toMatchObject(back);
  });

  test('needs pipeline_id for a stage of another pipeline', async () => {
    const deal = await api.create('deals', { name: 'D' });
    const stage_id = stageOf(partners, 'Talk');
    expectFault(await api.patch(`/deals/${deal.id}`, { stage_id }), 'VALIDATION_FAILED', 'stage_id');
    const mixed = { pipeline_id: partners.id, stage_id: deal.stage_id };
    expectFault(await api.patch(`/deals/${deal.id}`, mixed), 'VALIDATION_FAILED', 'stage_id');
    expect(await api.fetch('deals', deal.id)).toEqual(deal);
  });
});

test('the currency is an ISO 4217 code', async () => {
  for (const currency of ['EUR', 'USD', 'JPY', 'CHF', 'BHD', 'CLF', 'ZWG', 'XCG'])
    expect((await api.create('deals', { name: 'D', currency })).currency).toBe(currency);
  const { id } = await api.create('deals', { name: 'D' });
  for (const currency of ['eur', 'EURO', 'EU', '', 'ZZZ', 'E R', '€', '978']) {
    expectFault(await api.post('/deals', { name: 'D', currency }), 'VALIDATION_INVALID_FORMAT', 'currency');
    expectFault(await api.patch(`/deals/${id}`, { currency }), 'VALIDATION_INVALID_FORMAT', 'currency');
  }
});

test('a body with several faults tells them all', async () => {
  const body = {
    stage_id: 'absent',
    company_id: 'absent',
    owner_id: 'absent',
    point_of_contact_id: 'x',
  };
  const reply = await api.post('/deals', { name: 'D', ...body });
  expectError(reply, 422, 'VALIDATION_FAILED', ...Object.keys(body));
});

test('an organization without pipelines has no place for a deal', async () => {
  const { key } = await harness.issue({ orgNumber: harness.otherOrgNumber });
  const other = clientOf(harness, key);
  for (const id of await other.ids('/pipelines')) await other.del(`/pipelines/${id}`);
  expectFault(await other.post('/deals', { name: 'D' }), 'VALIDATION_FAILED', 'pipeline_id');
  const { id } = await other.create('pipelines', { name: 'New' });
  expect((await other.create('deals', { name: 'D' })).pipeline_id).toBe(id);
});
