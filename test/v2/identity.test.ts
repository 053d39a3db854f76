// What tells contacts and companies apart: one form for each domain, addresses as a set, text that says something.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { type Client, clientOf, expectFault, uniqueEmail } from '../support/v2.ts';

let harness: Harness;
let api: Client;

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

describe('a domain', () => {
  const STORED: [sent: string, stored: string][] = [
    ['www.www.d.example', 'd.example'],
    ['WWW.One.Example.', 'one.example'],
    ['https://www.two.example/path?q#f', 'two.example'],
    ['three.example.:8080/x', 'three.example:8080'],
    ['four.example...', 'four.example'],
    ['five.example\\share', 'five.example'],
    ['six_under.example', 'six_under.example'],
    ['bücher.example', 'bücher.example'],
    ['ไทย.example', 'ไทย.example'],
  ];
  for (const [sent, stored] of STORED) {
    test(`${sent} is kept as ${stored}, and that again as itself`, async () => {
      const company = await api.create('companies', { domain: sent });
      expect(company.domain).toBe(stored);
      const again = await api.update('companies', company.id, { domain: stored });
      expect(again.domain).toBe(stored);
      expect(await api.ids(`/companies?domain=${encodeURIComponent(sent)}`)).toEqual([company.id]);
      const conflict = await api.post('/companies', { domain: `www.${sent.replace(/^\w+:\/\/|^\/\//, '')}` });
      expect(conflict.status).toBe(409);
    });
  }

  const REFUSED = [
    'https:/one.example',
    'a b.example',
    'user:pass@host.example',
    'user@host.example',
    'a..example',
    '.example',
    'one.example:',
    'one.example:80:90',
    'www.',
    'https://',
    'one,two.example',
    'one.example!',
  ];
  for (const domain of REFUSED) {
    test(`${domain} is refused`, async () => {
      expectFault(await api.post('/companies', { domain }), 'VALIDATION_INVALID_FORMAT', 'domain');
      const reply = await harness.send('POST', '/api/v1/companies', { body: { domain } });
      expect([reply.status, reply.body.error.code]).toEqual([422, 'VALIDATION_INVALID_FORMAT']);
    });
  }
});

describe('alt_emails is a set', () => {
  test('without repeats, whatever their case, and without the primary address', async () => {
    const [email, other] = [uniqueEmail(), uniqueEmail()];
    const contact = await api.create('contacts', {
      email,
      alt_emails: [email.toUpperCase(), other, other.toUpperCase(), other],
    });
    expect(contact.alt_emails).toEqual([other]);
  });

  test('from which a new primary address goes', async () => {
    const [email, other] = [uniqueEmail(), uniqueEmail()];
    const { id } = await api.create('contacts', { email, alt_emails: [other] });
    const changed = await api.update('contacts', id, { email: other.toUpperCase() });
    expect([changed.email, changed.alt_emails]).toEqual([other.toUpperCase(), []]);
    expect(await api.ids(`/contacts?email=${other}`)).toEqual([id]);
    expect(await api.ids(`/contacts?email=${email}`)).toEqual([]);
  });

  test('in version 1 too', async () => {
    const [email, other] = [uniqueEmail(), uniqueEmail()];
    const reply = await harness.send('PUT', '/api/v1/people', {
      body: { email, altEmails: [other, email, other.toUpperCase()] },
    });
    expect([reply.status, reply.body.data.altEmails]).toEqual([200, [other]]);
  });
});

describe('internationalised addresses', () => {
  for (const email of ['jörg@example.com', '用户@例子.example', 'ada@bücher.example']) {
    test(email, async () => {
      const contact = await api.create('contacts', { email });
      expect(contact.email).toBe(email);
      expect(await api.ids(`/contacts?email=${encodeURIComponent(email.toUpperCase())}`)).toEqual([
        contact.id,
      ]);
    });
  }
  for (const email of ['jörg', 'a b@例子.example', '@例子.example', 'ü@', 'ü..x@例子.example']) {
    test(`${email} is none`, async () => {
      expectFault(await api.post('/contacts', { email }), 'VALIDATION_INVALID_FORMAT', 'email');
    });
  }
});

describe('text of nothing but white space', () => {
  const BLANKS = [' ', '\t\n', '\u00a0\u2003', ''];
  const REQUIRED: [resource: string, field: string, body: Json][] = [
    ['deals', 'name', {}],
    ['pipelines', 'name', {}],
    ['tasks', 'name', {}],
    ['notes', 'title', {}],
    ['segments', 'name', {}],
    ['interactions', 'title', { type: 'EMAIL', direction: 'INBOUND', main_contact_email: 'x@blank.example' }],
    ['companies', 'name', {}],
  ];
  for (const [resource, field, rest] of REQUIRED) {
    test(`is no ${field} of ${resource}`, async () => {
      for (const blank of BLANKS) {
        expectFault(
          await api.post(`/${resource}`, { ...rest, [field]: blank }),
          'VALIDATION_REQUIRED_FIELD',
          resource === 'companies' ? 'domain' : field,
        );
      }
    });
  }

  test('is no name of a stage', async () => {
    const reply = await api.post('/pipelines', { name: 'P', stages: [{ name: ' ' }] });
    expectFault(reply, 'VALIDATION_REQUIRED_FIELD', 'stages.0.name');
  });

  test('identifies no contact, in a create or after a change', async () => {
    for (const blank of BLANKS) {
      for (const field of ['first_name', 'last_name', 'phone']) {
        expectFault(await api.post('/contacts', { [field]: blank }), 'VALIDATION_REQUIRED_FIELD', 'email');
      }
    }
    const { id } = await api.create('contacts', { first_name: 'Ada' });
    expectFault(
      await api.patch(`/contacts/${id}`, { first_name: ' ' }),
      'VALIDATION_REQUIRED_FIELD',
      'email',
    );
  });

  test('is no title of an interaction in version 1, and no first name of a person', async () => {
    const interaction = {
      type: 'EMAIL',
      direction: 'INBOUND',
      title: ' ',
      mainContactEmail: 'x@blank.example',
    };
    const replies = [
      await harness.send('POST', '/api/v1/interactions', { body: interaction }),
      await harness.send('POST', '/api/v1/people', {
        body: { type: 'email', identifier: uniqueEmail(), firstName: ' ' },
      }),
    ];
    for (const { status, body } of replies)
      expect([status, body.error.code]).toEqual([422, 'VALIDATION_REQUIRED_FIELD']);
  });
});
