// v1 people: get, create, upsert, update and delete, over the contacts of v2.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { BASE_URL, type Harness, startHarness } from '../support/harness.ts';
import {
  dataOf,
  foreignKey,
  mail,
  type People,
  peopleOf,
  refusedAs,
  type V1Client,
  v1ClientOf,
  WHOLE_PERSON,
} from '../support/v1.ts';

let harness: Harness;
let foreign = '';
let v1: V1Client['v1'];
let shown: V1Client['shown'];
let create: People['create'];
let upsert: People['upsert'];
beforeAll(async () => {
  harness = await startHarness();
  foreign = await foreignKey(harness);
  const client = v1ClientOf(harness);
  ({ v1, shown } = client);
  ({ create, upsert } = peopleOf(client));
});
afterAll(() => harness.close());

const FAILED = 'VALIDATION_FAILED';

describe('POST /people', () => {
  test('creates, and shows only what is set', async () => {
    const email = mail('New');
    const reply = await v1('POST', '/people', { type: 'email', identifier: email, firstName: 'Ada' });
    const person = dataOf(reply, 201);
    expect(person).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      email,
      firstName: 'Ada',
      createdBy: expect.any(String),
      creationTime: new Date(harness.clock.now).toISOString(),
    });
    expect(reply.headers.get('Location')).toBe(`${BASE_URL}/api/v1/people/${person.id}`);
    expect(await shown(`/people/${person.id}`)).toEqual(person);
  });

  test('takes lastName and title', async () => {
    const person = await create({ lastName: 'King', title: 'Countess' });
    expect(person).toMatchObject({ lastName: 'King', title: 'Countess' });
  });

  test('an email in use, primary or alternative, in any case, is a 409 that shows nothing of its owner', async () => {
    const [email, alt] = [mail('Primary'), mail('Alt')];
    await upsert({ email, altEmails: [alt], lastName: 'Hidden' });
    for (const identifier of [email, email.toUpperCase(), alt, alt.toLowerCase()]) {
      const reply = await v1('POST', '/people', { type: 'email', identifier, firstName: 'B' });
      refusedAs(reply, 409, 'RESOURCE_CONFLICT', 'identifier');
      expect(reply.text).not.toContain('Hidden');
    }
    expect(
      (await v1('POST', '/people', { type: 'email', identifier: email, firstName: 'B' }, foreign)).status,
    ).toBe(201);
  });

  for (const body of [
    { identifier: 'a@b.co', firstName: 'A' },
    { type: 'email', firstName: 'A' },
    { type: 'email', identifier: 'a@b.co' },
  ]) {
    test(`needs all of type, identifier and firstName: ${Object.keys(body).join()}`, async () => {
      const missing = ['type', 'identifier', 'firstName'].find((name) => !(name in body)) ?? '';
      refusedAs(await v1('POST', '/people', body), 422, 'VALIDATION_REQUIRED_FIELD', missing);
    });
  }

  for (const name of [
    ...Object.keys(WHOLE_PERSON).slice(3),
    'email',
    'altEmails',
    'companyId',
    'owner',
    'id',
    'custom',
  ]) {
    test(`takes no ${name}`, async () => {
      const body = { type: 'email', identifier: mail(), firstName: 'A', [name]: 'x' };
      refusedAs(await v1('POST', '/people', body), 422, FAILED, name);
    });
  }
});

describe('PUT /people', () => {
  test('creates with every field, and takes it back as it was', async () => {
    const person = { email: mail(), altEmails: [mail(), mail()], ...WHOLE_PERSON };
    const created = await upsert(person);
    expect(created).toEqual({
      ...person,
      id: expect.any(String),
      createdBy: expect.any(String),
      creationTime: expect.any(String),
    });
    expect(await upsert(person)).toEqual(created);
    expect(await shown(`/people/${created.id}`)).toEqual(created);
  });

  test('merges: only what is present changes', async () => {
    const email = mail();
    const { id } = await upsert({ email, ...WHOLE_PERSON });
    const merged = await upsert({ email, title: 'Analyst', altEmails: ['other@merge.test'] });
    expect(merged).toMatchObject({
      id,
      email,
      ...WHOLE_PERSON,
      title: 'Analyst',
      altEmails: ['other@merge.test'],
    });
    expect(await upsert({ email })).toEqual(merged);
  });

  test('finds by an alternative email, in any case; the primary stays what it was', async () => {
    const [email, alt] = [mail('Main'), mail('Second')];
    const { id } = await upsert({ email, altEmails: [alt] });
    for (const spelling of [alt, alt.toUpperCase(), email.toUpperCase()]) {
      expect(await upsert({ email: spelling, firstName: spelling })).toMatchObject({
        id,
        email,
        altEmails: [alt],
        firstName: spelling,
      });
    }
    expect((await v1('POST', '/people/query', { filter: { email } })).body.data).toHaveLength(1);
  });

  test('an alternative email of somebody else is a 422, in a create and in a merge', async () => {
    const taken = mail();
    await upsert({ email: taken });
    const own = mail();
    for (let round = 0; round < 2; round++) {
      const reply = await v1('PUT', '/people', {
        email: own,
        altEmails: ['free@alt.test', taken.toUpperCase()],
      });
      refusedAs(reply, 422, FAILED, 'altEmails.1');
      if (round === 0) await upsert({ email: own });
    }
    expect((await v1('POST', '/people/query', { filter: { email: 'free@alt.test' } })).body.data).toEqual([]);
  });

  test('many at once with a new email are one person', async () => {
    const [email, alt] = [mail('Crowd'), mail()];
    const spellings = [email, email.toUpperCase(), email.toLowerCase()];
    const people = await Promise.all(
      Array.from({ length: 21 }, (_, index) => upsert({ email: spellings[index % 3], altEmails: [alt] })),
    );
    expect(new Set(people.map((person) => person.id)).size).toBe(1);
    const creates = Array.from({ length: 10 }, () =>
      v1('POST', '/people', { type: 'email', identifier: `new-${email}`, firstName: 'A' }),
    );
    const statuses = (await Promise.all(creates)).map((reply) => reply.status);
    expect(statuses.toSorted()).toEqual([201, ...Array(9).fill(409)]);
  });

  test('needs an email and knows no other fields', async () => {
    refusedAs(await v1('PUT', '/people', { firstName: 'A' }), 422, 'VALIDATION_REQUIRED_FIELD', 'email');
    refusedAs(await v1('PUT', '/people', { email: mail(), type: 'email' }), 422, FAILED, 'type');
    refusedAs(await v1('PUT', '/people', { email: mail(), firstName: null }), 422, FAILED, 'firstName');
  });

  test('other organizations are not touched', async () => {
    const email = mail();
    const own = await upsert({ email, lastName: 'Ours' });
    const other = dataOf(await v1('PUT', '/people', { email, firstName: 'Theirs' }, foreign), 200);
    expect(other.id).not.toBe(own.id);
    expect(JSON.stringify(other)).not.toContain('Ours');
  });
});

describe('PATCH /people/{personId}', () => {
  test('changes what is present', async () => {
    const { id, ...before } = await create();
    const patched = dataOf(
      await v1('PATCH', `/people/${id}`, { title: 'CTO', altEmails: ['x@patch.test'] }),
      200,
    );
    expect(patched).toEqual({ id, ...before, title: 'CTO', altEmails: ['x@patch.test'] });
    const email = mail();
    expect(dataOf(await v1('PATCH', `/people/${id}`, { email, altEmails: [] }), 200)).toEqual({
      id,
      ...before,
      email,
      title: 'CTO',
    });
    expect(dataOf(await v1('PATCH', `/people/${id}`, {}), 200)).toMatchObject({ email, title: 'CTO' });
  });

  test('its own emails can change places', async () => {
    const [email, alt] = [mail(), mail()];
    const { id } = await upsert({ email, altEmails: [alt] });
    const swapped = dataOf(await v1('PATCH', `/people/${id}`, { email: alt, altEmails: [email] }), 200);
    expect(swapped).toMatchObject({ email: alt, altEmails: [email] });
  });

  test('an email in use is a 422, never a 409', async () => {
    const [taken, alt] = [mail(), mail()];
    await upsert({ email: taken, altEmails: [alt] });
    const { id } = await create();
    for (const [body, path] of [
      [{ email: taken.toUpperCase() }, 'email'],
      [{ email: alt }, 'email'],
      [{ altEmails: ['mine@patch.test', taken] }, 'altEmails.1'],
    ] as const) {
      refusedAs(await v1('PATCH', `/people/${id}`, body), 422, FAILED, path);
    }
    expect((await shown(`/people/${id}`)).altEmails).toBeUndefined();
  });

  test('knows no other fields, and no null', async () => {
    const { id } = await create();
    for (const body of [
      { companyId: 'x' },
      { owner: 'x' },
      { id: 'x' },
      { creationTime: 'x' },
      { first_name: 'x' },
    ])
      refusedAs(await v1('PATCH', `/people/${id}`, body), 422, FAILED, Object.keys(body)[0] ?? '');
    for (const name of ['title', 'email', 'altEmails'])
      refusedAs(await v1('PATCH', `/people/${id}`, { [name]: null }), 422, FAILED, name);
  });
});
