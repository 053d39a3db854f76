// `fields`: a list with only the fields that are asked for, in the order and with the values that they always have.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { shownColumns } from '../../db/model/record-forms.ts';
import { RESOURCES } from '../../db/model/resources/registry.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { fillOrganization } from '../support/organization.ts';
import { randomNumbers } from '../support/random.ts';
import { insertReadOnly } from '../support/read-only.ts';
import { type Client, clientOf, expectFault } from '../support/v2.ts';

let harness: Harness;
let api: Client;
beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
  await fillOrganization(harness);
  const attendee = { name: 'Ada', email: 'ada@acme.test' };
  const meeting_id = await insertReadOnly(harness, 'meetings', { title: 'M', attendees: [attendee] });
  await insertReadOnly(harness, 'recordings', { title: 'R', meeting_id });
  await insertReadOnly(harness, 'bookings', { title: 'B', description: 'D', attendee });
});
afterAll(() => harness.close());

const queryOf = (names: readonly string[]) => names.map((name) => `fields=${name}`).join('&');
const only = (record: Json, names: readonly string[]): [string, Json][] =>
  Object.entries(record).filter(([name]) => name === 'id' || names.includes(name));

describe.each(RESOURCES.map((resource) => [resource.name, resource] as const))('of %s', (name, resource) => {
  const all = shownColumns(resource.fields).map((column) => column.name);

  test('each is shown as in a whole record, and the ID always', async () => {
    const whole = await api.list(`/${name}?limit=200`);
    expect(whole.length).toBeGreaterThan(0);
    const random = randomNumbers(1);
    const combinations = [
      ...all.map((one) => [one]),
      ...Array.from({ length: 10 }, () => all.filter(() => random() < 0.5)).filter(
        ({ length }) => length > 0,
      ),
      all.toReversed(),
      ['id', 'id'],
    ];
    for (const names of combinations) {
      for (const sort of resource.sorts) {
        const found = await api.list(
          `/${name}?limit=200&sort_by=${sort}&sort_direction=asc&${queryOf(names)}`,
        );
        const byId = new Map(found.map((record) => [record.id, Object.entries(record)]));
        expect(byId).toEqual(new Map(whole.map((record) => [record.id, only(record, names)])));
      }
    }
  });

  test('an unknown one is refused with those that there are', async () => {
    const unknown = await api.get(`/${name}?fields=id&fields=org_id`);
    expectFault(unknown, 'VALIDATION_FAILED', 'fields');
    for (const one of all) expect(unknown.body.error.message).toContain(one);
    expectFault(await api.get(`/${name}?fields=`), 'VALIDATION_FAILED', 'fields');
    expectFault(await api.get(`/${name}?fields=id,created_at`), 'VALIDATION_FAILED', 'fields');
    const tooMany = queryOf([...all, ...all]);
    expectFault(await api.get(`/${name}?${tooMany}`), 'VALIDATION_OUT_OF_RANGE', 'fields');
  });

  test('a record by itself is always whole', async () => {
    const [{ id }] = (await api.list(`/${name}?limit=1`)) as [Json];
    expectFault(await api.get(`/${name}/${id}?fields=id`), 'VALIDATION_FAILED', 'fields');
  });
});

test('pages follow each other whatever they show, also in an order that they do not', async () => {
  for (let count = 0; count < 5; count++) await api.create('tasks', { name: `T${count}` });
  for (const order of ['sort_by=updated_at', 'sort_by=created_at&sort_direction=asc']) {
    const whole = await api.all(`/tasks?${order}`);
    const walked = await api.all(`/tasks?${order}&fields=name`, 2);
    expect(walked).toEqual(whole.map(({ id, name }) => ({ id, name })));
  }
});

test('what is included stays beside them, also by a reference that they leave out', async () => {
  const [whole] = await api.list('/contacts?email=ada@acme.test&include=company');
  const { body } = await api.get('/contacts?email=ada@acme.test&include=company&fields=email');
  const { id, email, company_id, included_ids } = whole as Json;
  expect(body.data).toEqual([{ id, email, included_ids }]);
  expect(included_ids).toEqual({ company: [company_id] });
  expect(Object.keys(body.included.companies)).toEqual([company_id]);
});

test('a link of a deal has no such parameters', async () => {
  const [{ id }] = (await api.list('/deals?limit=1')) as [Json];
  for (const name of ['fields', 'include'])
    expectFault(await api.get(`/deals/${id}/contacts?${name}=id`), 'VALIDATION_FAILED', name);
});
