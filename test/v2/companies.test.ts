// Companies: what identifies one, and the one form of a domain; and custom fields, which deals and contacts share.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { keysOf } from '../support/field-samples.ts';
import { BASE_URL, type Harness, type Json, startHarness } from '../support/harness.ts';
import { type Client, clientOf, expectError, expectFault, minimalBody } from '../support/v2.ts';

let harness: Harness;
let api: Client;
let domains = 0;

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

function uniqueDomain(): string {
  domains += 1;
  return `firm-${domains}.example`;
}

describe('identifying fields', () => {
  test('domain or name is needed', async () => {
    for (const body of [{}, { city: 'London' }, { domain: null, name: null }])
      expectFault(await api.post('/companies', body), 'VALIDATION_REQUIRED_FIELD', 'domain');
    await api.create('companies', { domain: uniqueDomain() });
    await api.create('companies', { name: 'A' });
  });

  test('a company cannot lose the only one it has', async () => {
    const { id } = await api.create('companies', { domain: uniqueDomain() });
    expectFault(await api.patch(`/companies/${id}`, { domain: null }), 'VALIDATION_REQUIRED_FIELD', 'domain');
    await api.update('companies', id, { domain: null, name: 'A' });
    expectFault(await api.patch(`/companies/${id}`, { name: null }), 'VALIDATION_REQUIRED_FIELD', 'domain');
  });
});

describe('domain', () => {
  const spellings = (domain: string): string[] => [
    domain.toUpperCase(),
    `www.${domain}`,
    `${domain}.`,
    `https://${domain}`,
    `HTTP://WWW.${domain}/`,
    `https://www.${domain}./about?x=1#top`,
    `//${domain}/`,
    `  ${domain} `,
  ];

  test('is stored in one form', async () => {
    for (const index of spellings('').keys()) {
      const domain = uniqueDomain();
      const company = await api.create('companies', { domain: spellings(domain)[index] });
      expect(company.domain).toBe(domain);
      expect((await api.update('companies', company.id, { domain: spellings(domain)[index] })).domain).toBe(
        domain,
      );
    }
  });

  test('is unique in every spelling, with the Location of the company that has it', async () => {
    const domain = uniqueDomain();
    const { id } = await api.create('companies', { domain });
    const { id: second } = await api.create('companies', { name: 'Second' });
    for (const spelling of [domain, ...spellings(domain)]) {
      for (const reply of [
        await api.post('/companies', { domain: spelling }),
        await api.patch(`/companies/${second}`, { domain: spelling }),
      ]) {
        expectError(reply, 409, 'RESOURCE_CONFLICT', 'domain');
        expect(reply.headers.get('Location')).toBe(`${BASE_URL}/api/v2/companies/${id}`);
      }
    }
    await api.update('companies', id, { domain: `www.${domain}` });
  });

  test('is free once its company lets it go or is deleted', async () => {
    const [one, two] = [uniqueDomain(), uniqueDomain()];
    const { id } = await api.create('companies', { domain: one, name: 'A' });
    await api.update('companies', id, { domain: two });
    await api.create('companies', { domain: one });
    await api.del(`/companies/${id}`);
    await api.create('companies', { domain: two });
  });

  test('a subdomain is another domain, and companies without one do not conflict', async () => {
    const domain = uniqueDomain();
    await api.create('companies', { domain });
    await api.create('companies', { domain: `shop.${domain}` });
    await api.create('companies', { name: 'Same name' });
    await api.create('companies', { name: 'Same name' });
  });
});

for (const resource of ['contacts', 'companies', 'deals']) {
  describe(`custom of ${resource}`, () => {
    const make = (custom: Json) => api.create(resource, { ...minimalBody(resource), custom });

    test('merges, null removing a key', async () => {
      const { id } = await make({ a: 'x', b: 1, c: true });
      const after = await api.update(resource, id, { custom: { a: null, b: 2, d: false, absent: null } });
      expect(after.custom).toEqual({ b: 2, c: true, d: false });
      expect((await api.update(resource, id, { custom: {} })).custom).toEqual({ b: 2, c: true, d: false });
      expect((await api.update(resource, id, { custom: null })).custom).toEqual({});
    });

    test('a null on create is no key', async () => {
      expect((await make({ a: null, b: 1 })).custom).toEqual({ b: 1 });
    });

    test('takes any name and any flat value, and keeps them', async () => {
      const custom = {
        constructor: 'c',
        toString: 't',
        'a.b': 'dot',
        'a/b~c': 'slash',
        'ключ 😀': 'ü',
        '': 'empty',
        '0': 0,
        id: 'own',
        number: -1.25,
      };
      const { id } = await make(custom);
      expect((await api.fetch(resource, id)).custom).toEqual(custom);
    });

    test('holds 100 keys, counted after the merge', async () => {
      const { id } = await make(keysOf(99));
      await api.update(resource, id, { custom: { one: 1 } });
      const full = await api.fetch(resource, id);
      expectFault(
        await api.patch(`/${resource}/${id}`, { custom: { two: 2 } }),
        'VALIDATION_OUT_OF_RANGE',
        'custom',
      );
      expect(await api.fetch(resource, id)).toEqual(full);
      await api.update(resource, id, { custom: { two: 2, one: null } });
      expect(Object.keys((await api.fetch(resource, id)).custom)).toHaveLength(100);
    });

    test('lengths count code points', async () => {
      const custom = { ['😀'.repeat(100)]: '😀'.repeat(1_000) };
      expect((await make(custom)).custom).toEqual(custom);
      const path = `custom.${'😀'.repeat(101)}`;
      const body = { ...minimalBody(resource), custom: { ['😀'.repeat(101)]: 1 } };
      expectFault(await api.post(`/${resource}`, body), 'VALIDATION_OUT_OF_RANGE', path);
    });

    test('__proto__ and repeated keys are refused, never dropped', async () => {
      const [field, value] = Object.entries(minimalBody(resource))[0] ?? [];
      for (const inner of ['{"__proto__":1}', '{"a":1,"a":2}', '{"a":1,"\\u0061":2}']) {
        const raw = `{"${field}":"${value}","custom":${inner}}`;
        const reply = await harness.send('POST', `/api/v2/${resource}`, { raw });
        expect(reply.status).toBe(422);
        expect(reply.body.error.details[0].path).toBe(
          inner.includes('proto') ? 'custom.__proto__' : 'custom.a',
        );
      }
    });
  });
}
