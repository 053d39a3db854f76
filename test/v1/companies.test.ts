// v1 companies: their four rows, and what becomes of properties beyond the known ones.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { BASE_URL, type Harness, type Json, startHarness } from '../support/harness.ts';
import { dataOf, refusedAs, type V1Client, v1ClientOf } from '../support/v1.ts';

let harness: Harness;
let foreign = '';
let count = 0;
let v1: V1Client['v1'];
let v2: V1Client['v2'];
beforeAll(async () => {
  harness = await startHarness();
  foreign = (await harness.issue({ api: 'v1', orgNumber: harness.otherOrgNumber })).key;
  ({ v1, v2 } = v1ClientOf(harness));
});
afterAll(() => harness.close());

const FAILED = 'VALIDATION_FAILED';
function site(): string {
  count += 1;
  return `company-${count}.test`;
}

const create = async (fields: Json = {}): Promise<string> =>
  dataOf(await v1('POST', '/companies', { domain: site(), ...fields }), 201).id;
const shown = async (id: string): Promise<Json> => dataOf(await v1('GET', `/companies/${id}`), 200);
const stored = async (id: string): Promise<Json> => (await v2('GET', `/companies/${id}`)).body.data;
const FULL = {
  name: 'Engines Ltd',
  linkedin: 'company/engines',
  twitter: '@engines',
  facebook: 'engines',
  instagram: '@engines.ltd',
  crunchbase: 'organization/engines',
};

describe('POST /companies', () => {
  test('creates, and answers with the id alone', async () => {
    const domain = site();
    const reply = await v1('POST', '/companies', { domain, ...FULL });
    const data = dataOf(reply, 201);
    expect(Object.keys(data)).toEqual(['id']);
    expect(reply.headers.get('Location')).toBe(`${BASE_URL}/api/v1/companies/${data.id}`);
    expect(await shown(data.id)).toEqual({
      id: data.id,
      domain,
      ...FULL,
      createdBy: expect.any(String),
      creationTime: new Date(harness.clock.now).toISOString(),
    });
  });

  test('a domain that is there already is a 200 with the id of its company, which stays as it is', async () => {
    const domain = site();
    const id = await create({ domain, name: 'First', note: 'kept' });
    const spellings = [
      domain,
      domain.toUpperCase(),
      `https://www.${domain}/about?x#y`,
      `${domain}.`,
      `//${domain}/`,
    ];
    for (const spelling of spellings) {
      const reply = await v1('POST', '/companies', { domain: spelling, name: 'Second', note: 'lost' });
      expect(dataOf(reply, 200)).toEqual({ id });
      expect(reply.headers.get('Location')).toBeNull();
    }
    expect(await shown(id)).toMatchObject({ domain, name: 'First', note: 'kept' });
    const elsewhere = dataOf(await v1('POST', '/companies', { domain }, foreign), 201);
    expect(elsewhere.id).not.toBe(id);
  });

  test('many at once with a new domain are one company', async () => {
    const domain = site();
    const replies = await Promise.all(Array.from({ length: 20 }, () => v1('POST', '/companies', { domain })));
    expect(replies.map((reply) => reply.status).toSorted()).toEqual([...Array(19).fill(200), 201]);
    expect(new Set(replies.map((reply) => reply.body.data.id)).size).toBe(1);
  });

  test('keeps a domain in one form', async () => {
    const domain = site();
    const id = await create({ domain: `HTTPS://WWW.${domain.toUpperCase()}/path` });
    expect((await shown(id)).domain).toBe(domain);
  });

  test('needs a domain', async () => {
    refusedAs(await v1('POST', '/companies', { name: 'A' }), 422, 'VALIDATION_REQUIRED_FIELD', 'domain');
    refusedAs(await v1('POST', '/companies', { domain: '' }), 422, 'VALIDATION_OUT_OF_RANGE', 'domain');
    for (const domain of [null, 5, ['a.test']])
      refusedAs(await v1('POST', '/companies', { domain }), 422, FAILED, 'domain');
    refusedAs(
      await v1('POST', '/companies', { domain: 'https://' }),
      422,
      'VALIDATION_INVALID_FORMAT',
      'domain',
    );
  });

  test('a name is a string', async () => {
    for (const name of [null, 5, {}])
      refusedAs(await v1('POST', '/companies', { domain: site(), name }), 422, FAILED, 'name');
  });
});

describe('additional properties', () => {
  const extra = {
    industry: 'Mills',
    employee_count: 5,
    isCustomer: true,
    'a b.c': 'dots',
    custom: 'mine',
    e: '',
  };

  test('live in custom, and come back at top level', async () => {
    const id = await create({ name: 'A', ...extra });
    expect(await shown(id)).toMatchObject(extra);
    expect(await stored(id)).toMatchObject({ custom: extra, industry: null, employee_count: null });
  });

  test('merge in a PATCH; null removes, and in a create is as good as nothing', async () => {
    const id = await create({ ...extra, gone: null });
    expect('gone' in (await shown(id))).toBe(false);
    expect(dataOf(await v1('PATCH', `/companies/${id}`, { e: 'x', isCustomer: null, more: 1 }), 200)).toEqual(
      { id },
    );
    const { isCustomer: _, ...rest } = extra;
    expect((await stored(id)).custom).toEqual({ ...rest, e: 'x', more: 1 });
  });

  test('nested values and the names that only the service sets are refused', async () => {
    const id = await create();
    for (const body of [{ a: { b: 1 } }, { a: [1] }, { a: {} }, { custom: { a: 1 } }]) {
      const path = Object.keys(body)[0] ?? '';
      refusedAs(await v1('POST', '/companies', { domain: site(), ...body }), 422, FAILED, path);
      refusedAs(await v1('PATCH', `/companies/${id}`, body), 422, FAILED, path);
    }
    for (const name of ['id', 'createdBy', 'creationTime', 'lastInteraction']) {
      for (const value of ['x', null]) {
        refusedAs(await v1('POST', '/companies', { domain: site(), [name]: value }), 422, FAILED, name);
        refusedAs(await v1('PATCH', `/companies/${id}`, { [name]: value }), 422, FAILED, name);
      }
    }
    expect((await shown(id)).a).toBeUndefined();
  });

  test('set by v2 under the name of a field they do not pass for it', async () => {
    const custom = { name: 5, id: 'mine', lastInteraction: 'never', domain: 'x.test', plain: 'yes' };
    const { id } = (await v2('POST', '/companies', { name: 'Real', custom })).body.data;
    expect(await shown(id)).toEqual({
      id,
      name: 'Real',
      plain: 'yes',
      createdBy: expect.any(String),
      creationTime: expect.any(String),
    });
  });
});

describe('PATCH /companies/{companyId}', () => {
  test('changes what is present, and answers with the id alone', async () => {
    const id = await create(FULL);
    const before = await shown(id);
    const domain = site();
    expect(dataOf(await v1('PATCH', `/companies/${id}`, { name: 'New', domain }), 200)).toEqual({ id });
    expect(await shown(id)).toEqual({ ...before, name: 'New', domain });
    expect(dataOf(await v1('PATCH', `/companies/${id}`, {}), 200)).toEqual({ id });
    expect(dataOf(await v1('PATCH', `/companies/${id}`, { domain: `WWW.${domain}` }), 200)).toEqual({ id });
  });

  test('a domain of another company is a 409', async () => {
    const taken = site();
    const owner = await create({ domain: taken, name: 'Hidden' });
    const id = await create();
    for (const domain of [taken, `https://www.${taken.toUpperCase()}`]) {
      const reply = await v1('PATCH', `/companies/${id}`, { domain, name: 'Lost' });
      refusedAs(reply, 409, 'RESOURCE_CONFLICT', 'domain');
      expect(reply.text).not.toContain('Hidden');
      expect(reply.text).not.toContain(owner);
    }
    expect((await shown(id)).name).toBeUndefined();
  });

  test('a known field takes no null', async () => {
    const id = await create();
    for (const name of ['domain', ...Object.keys(FULL)])
      refusedAs(await v1('PATCH', `/companies/${id}`, { [name]: null }), 422, FAILED, name);
    refusedAs(
      await v1('PATCH', `/companies/${id}`, { domain: '' }),
      422,
      'VALIDATION_OUT_OF_RANGE',
      'domain',
    );
  });
});

describe('absent companies', () => {
  test('are a 404, and so are those of others', async () => {
    const id = await create();
    for (const [path, key] of [['absent'], [crypto.randomUUID()], ['%00'], [id, foreign]]) {
      for (const [method, body] of [['GET'], ['PATCH', { name: 'x' }], ['DELETE']] as const)
        refusedAs(await v1(method, `/companies/${path}`, body, key), 404, 'RESOURCE_NOT_FOUND');
    }
    expect((await shown(id)).id).toBe(id);
  });

  test('a deleted one is gone, its domain is free and its people stay', async () => {
    const domain = site();
    const id = await create({ domain });
    const contact = (await v2('POST', '/contacts', { first_name: 'A', company_id: id })).body.data.id;
    const gone = await v1('DELETE', `/companies/${id}`);
    expect([gone.status, gone.text]).toEqual([204, '']);
    for (const method of ['GET', 'DELETE'])
      refusedAs(await v1(method, `/companies/${id}`), 404, 'RESOURCE_NOT_FOUND');
    expect('companyId' in (await v1('GET', `/people/${contact}`)).body.data).toBe(false);
    expect(await create({ domain })).not.toBe(id);
  });
});

test('what v2 writes v1 shows, without what is unset', async () => {
  const body = { name: 'Plain', industry: 'Mills', custom: { tier: 'gold' } };
  const company = (await v2('POST', '/companies', body)).body.data;
  const contact = (await v2('POST', '/contacts', { first_name: 'A', company_id: company.id })).body.data.id;
  const interaction = { type: 'EMAIL', direction: 'INBOUND', title: 'T', main_contact: contact };
  await v2('POST', '/interactions', { ...interaction, interaction_date: 0 });
  expect(await shown(company.id)).toEqual({
    id: company.id,
    name: 'Plain',
    tier: 'gold',
    createdBy: company.created_by,
    creationTime: company.created_at,
    lastInteraction: '1970-01-01T00:00:00.000Z',
  });
});
