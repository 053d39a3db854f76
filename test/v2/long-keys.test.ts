// Values that records are looked up by can be as long as other text, and can differ in their last character alone.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  createOrganization,
  createUser,
  findOrganization,
  findUserByEmail,
} from '../../db/accounts/accounts.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { longText, SCRIPTS } from '../support/long-texts.ts';
import { type Client, clientOf, expectError, uniqueEmail } from '../support/v2.ts';

let harness: Harness;
let api: Client;

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

const found = (resource: string, filter: string, value: string): Promise<string[]> =>
  api.ids(`/${resource}?${filter}=${encodeURIComponent(value)}`);

for (const script of SCRIPTS) {
  describe(script, () => {
    const text = longText(script);
    // The same but for its end.
    const other = `${text.slice(0, 998)}${longText('letters', 2)}`;

    test('the name of a company, whatever its case', async () => {
      const [one, two] = [
        await api.create('companies', { name: text }),
        await api.create('companies', { name: other }),
      ];
      expect(one.name).toBe(text);
      expect(await found('companies', 'name', text)).toEqual([one.id]);
      expect(await found('companies', 'name', text.toUpperCase())).toEqual([one.id]);
      expect(await found('companies', 'name', other)).toEqual([two.id]);
    });

    for (const field of ['phone', 'personal_phone']) {
      test(`the ${field} of a contact, which changes to a short one and back`, async () => {
        const [first, second] = [longText(script), longText(script)];
        const { id } = await api.create('contacts', { last_name: 'L', [field]: first });
        expect(await found('contacts', 'phone', first)).toEqual([id]);
        expect(await found('contacts', 'phone', second)).toEqual([]);
        const short = `${field} ${script}`;
        await api.update('contacts', id, { [field]: short });
        expect(await found('contacts', 'phone', first)).toEqual([]);
        expect(await found('contacts', 'phone', short)).toEqual([id]);
        const changed = await api.update('contacts', id, { [field]: second });
        expect(changed[field]).toBe(second);
        expect(await found('contacts', 'phone', short)).toEqual([]);
        expect(await found('contacts', 'phone', second)).toEqual([id]);
      });
    }

    test('the primary id of an interaction, which tells duplicates', async () => {
      const body = { type: 'EMAIL', direction: 'INBOUND', title: 'T', main_contact_email: uniqueEmail() };
      const log = (primary_id: string) =>
        api.create('interactions', { ...body, primary_id, secondary_id: text });
      const first = await log(text);
      expect(await log(text)).toMatchObject({ id: first.id, is_duplicate: true });
      expect(await log(other)).toMatchObject({ is_duplicate: false, primary_id: other });
    });

    test('the name of an organization', async () => {
      const { store } = harness;
      const made = await store.write('accounts', (trx) => createOrganization(trx, text, 0));
      expect(await findOrganization(store.read, text.toUpperCase())).toEqual(made);
      expect(await findOrganization(store.read, other)).toBeUndefined();
    });
  });
}

for (const script of ['letters', 'Greek', 'CJK']) {
  test(`a domain of ${script} belongs to one company`, async () => {
    const domain = `${longText(script, 991)}.example`;
    const similar = `${domain.slice(0, 980)}${longText(script, 11)}.example`;
    const { id } = await api.create('companies', { domain });
    expect(await found('companies', 'domain', `https://www.${domain}/`)).toEqual([id]);
    expectError(await api.post('/companies', { domain }), 409, 'RESOURCE_CONFLICT', 'domain');
    const batch = await api.post('/companies/batch', [{ domain }, { domain: similar }]);
    expect(batch.body.data.items.map((item: Json) => item.error?.code)).toEqual([
      'RESOURCE_CONFLICT',
      undefined,
    ]);
    const short = `${script.toLowerCase()}.short.example`;
    await api.update('companies', id, { domain: short });
    expect(await found('companies', 'domain', domain)).toEqual([]);
    await api.create('companies', { domain });
    expectError(await api.post('/companies', { domain: short }), 409, 'RESOURCE_CONFLICT', 'domain');
  });

  test(`an email of ${script} belongs to one contact, whatever its case`, async () => {
    const email = `${longText(script, 987)}@mail.example`;
    const { id } = await api.create('contacts', { first_name: 'A', alt_emails: [email] });
    expect(await found('contacts', 'email', email.toUpperCase())).toEqual([id]);
    const conflict = await api.post('/contacts', { email: email.toUpperCase() });
    expectError(conflict, 409, 'RESOURCE_CONFLICT', 'email');
    const logged = await api.create('interactions', {
      type: 'EMAIL',
      direction: 'INBOUND',
      title: 'T',
      main_contact_email: email,
    });
    expect(logged.main_contact).toBe(id);
    const user = { orgNumber: harness.orgNumber, email, name: null, now: 0 };
    const made = await harness.store.write('accounts', (trx) => createUser(trx, user));
    expect(await findUserByEmail(harness.store.read, harness.orgNumber, email.toUpperCase())).toEqual(made);
  });
}

test('a text that looks like the key of a long one is another', async () => {
  const long = longText('letters');
  const { id } = await api.create('contacts', { phone: long });
  const [row] = await harness.store.read
    .selectFrom('contacts' as 'records')
    .select('phone_key')
    .where('id', '=', id)
    .execute();
  const key = String(row?.phone_key);
  const lookalike = await api.create('contacts', { phone: key });
  expect(await found('contacts', 'phone', long)).toEqual([id]);
  expect(await found('contacts', 'phone', key)).toEqual([lookalike.id]);
});
