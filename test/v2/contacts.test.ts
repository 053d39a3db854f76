// Contacts: what identifies one, and whom an email address belongs to.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { BASE_URL, type Harness, startHarness } from '../support/harness.ts';
import { type Client, clientOf, expectError, expectFault, uniqueEmail } from '../support/v2.ts';

let harness: Harness;
let api: Client;

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

const locationOf = (id: string) => `${BASE_URL}/api/v2/contacts/${id}`;

describe('identifying fields', () => {
  const identifying = { email: 'one@mail.example', phone: '1', first_name: 'A', last_name: 'B' };
  for (const [name, value] of Object.entries(identifying)) {
    test(`${name} alone is enough`, async () => {
      const contact = await api.create('contacts', { [name]: value });
      expect(contact[name]).toBe(value);
    });
    test(`a contact with ${name} alone cannot lose it`, async () => {
      const contact = await api.create('contacts', {
        [name]: name === 'email' ? uniqueEmail() : value,
        title: 'Head',
      });
      const reply = await api.patch(`/contacts/${contact.id}`, { [name]: null });
      expectFault(reply, 'VALIDATION_REQUIRED_FIELD', 'email');
      for (const one of Object.keys(identifying)) expect(reply.body.error.message).toContain(one);
      expect(await api.fetch('contacts', contact.id)).toEqual(contact);
    });
    test(`${name} can go when another comes`, async () => {
      const start = { [name]: name === 'email' ? uniqueEmail() : value };
      const { id } = await api.create('contacts', start);
      const next = name === 'phone' ? { last_name: 'C' } : { phone: '2' };
      expect(await api.update('contacts', id, { [name]: null, ...next })).toMatchObject({
        [name]: null,
        ...next,
      });
    });
  }

  test('nothing else identifies a contact', async () => {
    for (const body of [
      {},
      { title: 'x', personal_phone: '1', alt_emails: [uniqueEmail()], custom: { a: 1 } },
      { email: null, phone: null, first_name: null, last_name: null },
    ])
      expectFault(await api.post('/contacts', body), 'VALIDATION_REQUIRED_FIELD', 'email');
  });
});

describe('one email belongs to one contact', () => {
  test('primary and alternative, whatever the case, with the Location of the one who has it', async () => {
    const [primary, alternative] = [uniqueEmail(), uniqueEmail()];
    const { id } = await api.create('contacts', { email: primary, alt_emails: [alternative] });
    const rows: [object, string][] = [
      [{ email: primary }, 'email'],
      [{ email: primary.toUpperCase() }, 'email'],
      [{ email: alternative }, 'email'],
      [{ first_name: 'X', alt_emails: [primary] }, 'alt_emails.0'],
      [{ first_name: 'X', alt_emails: [uniqueEmail(), alternative.toUpperCase()] }, 'alt_emails.1'],
    ];
    const { id: second } = await api.create('contacts', { first_name: 'Second' });
    for (const [body, path] of rows) {
      for (const reply of [await api.post('/contacts', body), await api.patch(`/contacts/${second}`, body)]) {
        expectError(reply, 409, 'RESOURCE_CONFLICT', path);
        expect(reply.headers.get('Location')).toBe(locationOf(id));
      }
    }
    expect(await api.fetch('contacts', second)).toMatchObject({ first_name: 'Second', email: null });
  });

  test('its own contact may move it about', async () => {
    const [one, two] = [uniqueEmail(), uniqueEmail()];
    const { id } = await api.create('contacts', { email: one, alt_emails: [two] });
    await api.update('contacts', id, { email: one.toUpperCase() });
    await api.update('contacts', id, { email: two, alt_emails: [one, two] });
    expect(await api.fetch('contacts', id)).toMatchObject({ email: two, alt_emails: [one] });
    for (const email of [one, two]) expect(await api.ids(`/contacts?email=${email}`)).toEqual([id]);
  });

  test('it is free once its contact lets it go or is deleted', async () => {
    const [one, two, three] = [uniqueEmail(), uniqueEmail(), uniqueEmail()];
    const { id } = await api.create('contacts', { email: one, alt_emails: [two, three], first_name: 'A' });
    await api.update('contacts', id, { email: null, alt_emails: [three] });
    await api.create('contacts', { email: one });
    await api.create('contacts', { email: two });
    expect((await api.post('/contacts', { email: three })).status).toBe(409);
    await api.del(`/contacts/${id}`);
    expect((await api.post('/contacts', { email: three })).status).toBe(201);
  });

  test('clearing alt_emails by null frees them', async () => {
    const alternative = uniqueEmail();
    const { id } = await api.create('contacts', { first_name: 'A', alt_emails: [alternative] });
    expect((await api.update('contacts', id, { alt_emails: null })).alt_emails).toEqual([]);
    expect((await api.post('/contacts', { email: alternative })).status).toBe(201);
  });

  test('a change that fails leaves the addresses as they were', async () => {
    const [one, two, taken] = [uniqueEmail(), uniqueEmail(), uniqueEmail()];
    await api.create('contacts', { email: taken });
    const { id } = await api.create('contacts', { email: one });
    expect((await api.patch(`/contacts/${id}`, { email: two, alt_emails: [taken] })).status).toBe(409);
    expect(await api.ids(`/contacts?email=${one}`)).toEqual([id]);
    expect((await api.post('/contacts', { email: two })).status).toBe(201);
  });

  test('another organization may have it too', async () => {
    const other = await api.withKey({ orgNumber: harness.otherOrgNumber });
    const email = uniqueEmail();
    await api.create('contacts', { email });
    expect((await other.post('/contacts', { email })).status).toBe(201);
  });

  test('a fault of the body is reported before the conflict', async () => {
    const email = uniqueEmail();
    await api.create('contacts', { email });
    expectFault(
      await api.post('/contacts', { email, company_id: 'absent' }),
      'VALIDATION_FAILED',
      'company_id',
    );
  });

  test('it is kept as written', async () => {
    const email = `Mixed.${uniqueEmail()}`;
    expect((await api.create('contacts', { email })).email).toBe(email);
  });
});
