// What an assistant writes: by names as people say them, linked to what it is about, and nothing half done in silence.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Assistant, recordIn, recordsIn } from '../support/assistant.ts';
import { ndjson, Sandbox } from '../support/command.ts';
import { ABSENT } from '../support/v2.ts';

let sandbox: Sandbox;
let assistant: Assistant;
let firm: string;
let ada: string;
beforeAll(async () => {
  sandbox = await Sandbox.serving();
  assistant = await Assistant.start(sandbox, ['--write', '--allow-delete']);
  firm = await upserted('companies', { domain: 'engines.example', name: 'Engines Ltd' });
  ada = await upserted('contacts', {
    email: 'ada@engines.example',
    first_name: 'Ada',
    company: 'engines ltd',
  });
});
afterAll(async () => {
  await assistant[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
});

async function upserted(resource: string, values: object): Promise<string> {
  return String(recordIn(await assistant.ok('upsert', { resource, ...values })).id);
}

async function get(resource: string, id: unknown): Promise<Record<string, unknown>> {
  return JSON.parse(await sandbox.ok(['get', resource, String(id), '-o', 'json']));
}

const list = async (what: string) => ndjson(await sandbox.ok(['list', what]));

describe('upsert', () => {
  test('creates, finds again by its email, and says which', async () => {
    const values = {
      resource: 'contacts',
      email: 'Grace@navy.example',
      first_name: 'Grace',
      custom: { rank: 7 },
    };
    const created = await assistant.ok('upsert', values);
    expect(created).toStartWith('Created:\n{"id":"');
    const { id } = recordIn(created);
    expect(await assistant.ok('upsert', values)).toStartWith('Left unchanged, found by its email:\n');
    const filled = await assistant.ok('upsert', {
      ...values,
      first_name: 'G.',
      last_name: 'Hopper',
      on_match: 'fill',
    });
    expect(filled).toStartWith('Updated, found by its email:\n');
    expect(await get('contacts', id)).toMatchObject({
      first_name: 'Grace',
      last_name: 'Hopper',
      custom: { rank: 7 },
    });
  });

  test('takes what has neither email nor domain by an external ID', async () => {
    const external_id = { source: 'assistant', id: 'engine-2' };
    const id = await upserted('deals', {
      name: 'Engine',
      external_id,
      stage: 'proposal',
      contact: 'ADA@engines.example',
    });
    expect(await upserted('deals', { external_id, name: 'Engine 2' })).toBe(id);
    expect(await get('deals', id)).toMatchObject({ name: 'Engine 2', point_of_contact_id: ada });
    const text = await assistant.refusal('upsert', { resource: 'deals', name: 'Engine' });
    expect(text).toStartWith('VALIDATION_REQUIRED_FIELD: ');
    expect(text).toContain('Next: Correct the arguments. describe {"resource":"deals"} lists');
  });

  test('on_missing fail creates nothing', async () => {
    const given = { resource: 'companies', domain: 'nobody.example', on_missing: 'fail' };
    expect(await assistant.refusal('upsert', given)).toStartWith('RESOURCE_NOT_FOUND: ');
  });
});

describe('names', () => {
  test('a company by domain or name, a stage in the pipeline of the deal, another pipeline with its stage', async () => {
    await sandbox.ok([
      'create',
      'pipelines',
      '-d',
      '{"name":"Partners","stages":[{"name":"Talk"},{"name":"Proposal"}]}',
    ]);
    const id = await upserted('deals', {
      name: 'Named',
      external_id: { source: 'a', id: '1' },
      company: 'www.engines.example',
    });
    expect(await get('deals', id)).toMatchObject({ company_id: firm });
    const stageOf = async () => {
      const { stage_id, pipeline_id } = await get('deals', id);
      const { name, stages } = await get('pipelines', pipeline_id);
      return [name, (stages as { id: string; name: string }[]).find((one) => one.id === stage_id)?.name];
    };
    await assistant.ok('update', { resource: 'deals', id, stage: 'negotiation' });
    expect(await stageOf()).toEqual(['Sales', 'Negotiation']);
    await assistant.ok('update', { resource: 'deals', id, stage: 'proposal', pipeline: 'partners' });
    expect(await stageOf()).toEqual(['Partners', 'Proposal']);
    // In its own pipeline now, although the oldest has one of that name too.
    await assistant.ok('update', { resource: 'deals', id, stage: 'Talk' });
    await assistant.ok('update', { resource: 'deals', id, stage: 'Proposal' });
    expect(await stageOf()).toEqual(['Partners', 'Proposal']);
    await assistant.ok('update', { resource: 'deals', id, pipeline: 'Sales' });
    expect(await stageOf()).toEqual(['Sales', 'Prospecting']);
    await assistant.ok('update', { resource: 'deals', id, stage: 'won' });
    expect(await stageOf()).toEqual(['Sales', 'Closed Won']);
    // A new deal goes to the only pipeline that has the stage.
    const other = await upserted('deals', {
      name: 'Talked',
      external_id: { source: 'a', id: '2' },
      stage: 'talk',
    });
    expect((await get('deals', other)).pipeline_id).not.toBe((await get('deals', id)).pipeline_id);
    // One that is there stays in its pipeline, unless another is named.
    const external_id = { source: 'a', id: '2' };
    await upserted('deals', { external_id, stage: 'proposal' });
    expect((await get('deals', other)).pipeline_id).not.toBe((await get('deals', id)).pipeline_id);
    const moved = await assistant.refusal('upsert', { resource: 'deals', external_id, stage: 'Closed Won' });
    expect(moved).toContain('the pipeline "Partners" does not have a stage "Closed Won"');
    await upserted('deals', { external_id, stage: 'Closed Won', pipeline: 'Sales' });
    expect((await get('deals', other)).pipeline_id).toBe((await get('deals', id)).pipeline_id as string);
  });

  test.each<[Record<string, unknown>, string[]]>([
    [{ company: 'Nobody' }, ['company: no company has the name or domain "Nobody"', 'create it with upsert']],
    [{ contact: 'nobody@x.example' }, ['contact: no contact has the email "nobody@x.example"']],
    [{ stage: 'Dreaming' }, ['RESOURCE_NOT_FOUND: stage: ', 'its stages are Prospecting, Discovery']],
    [{ pipeline: 'Fishing' }, ['RESOURCE_NOT_FOUND: pipeline: ', 'the pipelines are Sales']],
    [{ stage: 'Won', stage_id: 'x' }, ['stage: send either stage or stage_id, not both']],
    [{ owner: 'me' }, ['owner: this key is not bound to a user']],
  ])('%j is told what there is', async (names, words) => {
    const text = await assistant.refusal('upsert', {
      resource: 'deals',
      external_id: { source: 'b', id: '1' },
      name: 'x',
      ...names,
    });
    for (const word of words) expect(text).toContain(word);
    expect((await list('deals')).some(({ name }) => name === 'x')).toBe(false);
  });

  test('the same name of two companies decides nothing', async () => {
    for (const domain of ['twins.example', 'twins.test'])
      await upserted('companies', { domain, name: 'Twins' });
    const text = await assistant.refusal('update', { resource: 'contacts', id: ada, company: 'twins' });
    expect(text).toContain('company: several companies are named "twins"; send company_id');
    expect(recordsIn(text).map(({ name, domain }) => [name, domain])).toEqual([
      ['Twins', 'twins.test'],
      ['Twins', 'twins.example'],
    ]);
    const [first] = recordsIn(text);
    await assistant.ok('update', { resource: 'contacts', id: ada, company_id: first?.id });
    expect(await get('contacts', ada)).toMatchObject({ company_id: first?.id });
  });
});

describe('update', () => {
  test('changes what is given, clears with null, and shows the record', async () => {
    const text = await assistant.ok('update', {
      resource: 'contacts',
      id: ada,
      title: 'Countess',
      phone: '+44 20 7946 0000',
    });
    expect(text).toStartWith('Updated:\n');
    expect(recordIn(text)).toMatchObject({ id: ada, title: 'Countess' });
    const again = await assistant.ok('update', { resource: 'contacts', id: ada, title: 'Countess' });
    expect(again).toStartWith('Left unchanged:\n');
    expect(recordIn(again)).toMatchObject({ id: ada, title: 'Countess' });
    expect(
      recordIn(await assistant.ok('update', { resource: 'contacts', id: ada, title: null })),
    ).not.toHaveProperty('title');
  });

  test('of a task takes a date, and shows it as one', async () => {
    const { id } = recordIn(await assistant.ok('add_task', { name: 'Dated' }));
    const given = { resource: 'tasks', id, due_date: '2026-03-31T09:00:00+02:00', done: true };
    expect(recordIn(await assistant.ok('update', given))).toMatchObject({
      due_date: '2026-03-31T07:00:00.000Z',
      done: true,
    });
    const text = await assistant.refusal('update', { ...given, due_date: 'tomorrow' });
    expect(text).toBe(
      'VALIDATION_INVALID_FORMAT: due_date: must be 2026-03-31, 2026-03-31T09:00:00Z or Unix milliseconds',
    );
  });

  test.each<[Record<string, unknown>, string[]]>([
    [{}, ['VALIDATION_REQUIRED_FIELD: no field to change is given']],
    [
      { name: 'x' },
      ['name: is not allowed here; allowed: id, email, alt_emails', 'describe {"resource":"contacts"}'],
    ],
    [{ email: 'x' }, ['VALIDATION_INVALID_FORMAT: ', 'must be an email address']],
    [{ company_id: ABSENT }, ['company_id: must be the ID of an existing company']],
  ])('%j is refused in the words of the service', async (values, words) => {
    const text = await assistant.refusal('update', { resource: 'contacts', id: ada, ...values });
    for (const word of words) expect(text).toContain(word);
  });

  test('an absent record and a conflict say where to go on', async () => {
    const absent = await assistant.refusal('update', { resource: 'contacts', id: ABSENT, title: 'x' });
    expect(absent).toMatch(/^RESOURCE_NOT_FOUND: .*\nNext: Find the ID with search or query/);
    const other = await upserted('contacts', { email: 'other@engines.example' });
    const taken = await assistant.refusal('update', {
      resource: 'contacts',
      id: other,
      email: 'ada@engines.example',
    });
    expect(taken).toStartWith('RESOURCE_CONFLICT: ');
    expect(taken).toContain(`get {"resource":"contacts","id":"${ada}"} shows the record that has it`);
  });
});

describe('what happened and what is to be done', () => {
  test('a note is linked to all that it is about', async () => {
    const records = [
      { record_type: 'contact', record_id: ada },
      { record_type: 'company', record_id: firm },
    ];
    const text = await assistant.ok('add_note', { title: 'Call', content: 'Two\nunits', records });
    expect(text).toStartWith('Added, linked to 2 records:\n');
    const { id } = recordIn(text);
    const linked = await list(`notes/${id}/records`);
    expect(linked.map(({ record_id }) => record_id).toSorted()).toEqual([ada, firm].toSorted());
    expect(await assistant.ok('add_note', { title: 'Loose' })).toMatch(
      /^Added, linked to nothing:\n.*\nNext: link \{"of":"notes.records","parent_id":"\S+","id":"ID","record_type":"contact"\} says/,
    );
  });

  test('a note about a record that is not there is not written', async () => {
    const before = await list('notes');
    const records = [
      { record_type: 'contact', record_id: ada },
      { record_type: 'deal', record_id: ABSENT },
    ];
    const text = await assistant.refusal('add_note', { title: 'Lost', records });
    expect(text).toContain(`there is no deal ${ABSENT}. Nothing was written.`);
    expect(await list('notes')).toEqual(before);
  });

  test('a task has its company, contact and date', async () => {
    const text = await assistant.ok('add_task', {
      ...{ name: 'Send the drawings', due_date: '2030-01-02', company: 'Engines Ltd' },
      contact: 'ada@engines.example',
    });
    const { id } = recordIn(text);
    expect(text).toEndWith(`Next: update {"resource":"tasks","id":"${id}","done":true} marks it as done.`);
    expect(await get('tasks', id)).toMatchObject({
      due_date: Date.UTC(2030, 0, 2),
      company_id: firm,
      person_id: ada,
    });
  });

  test('an interaction is logged once where it can be told', async () => {
    const given = {
      type: 'EMAIL',
      direction: 'INBOUND',
      title: 'The drawings',
      main_contact_email: 'new@engines.example',
    };
    const dated = { ...given, interaction_date: '2026-01-02T09:30:00Z' };
    const text = await assistant.ok('log_interaction', dated);
    expect(text).toStartWith('Logged:\n');
    const logged = recordIn(text);
    expect(logged).toMatchObject({ interaction_date: '2026-01-02T09:30:00.000Z' });
    expect(text).toContain(`Next: timeline {"resource":"contacts","id":"${logged.main_contact}"} shows`);
    expect(await assistant.ok('log_interaction', dated)).toStartWith(
      'It was logged before. Nothing was written:\n',
    );
    const both = await assistant.refusal('log_interaction', { ...given, main_contact: ada });
    expect(both).toStartWith('VALIDATION_FAILED: ');
    const { main_contact_email: contact, ...others } = given;
    const named = await assistant.ok('log_interaction', { ...others, contact });
    expect(recordIn(named)).toMatchObject({ main_contact: logged.main_contact });
    expect(await assistant.refusal('log_interaction', { ...given, contact })).toContain(
      'contact: send one of',
    );
  });

  test('records are linked once, and a kind of link takes its own fields', async () => {
    const deal = await upserted('deals', { name: 'Linked', external_id: { source: 'c', id: '1' } });
    const given = { of: 'deals.contacts', parent_id: deal, id: ada };
    expect(await assistant.ok('link', given)).toBe('Linked.');
    expect(await assistant.ok('link', given)).toBe('They are linked already. Nothing was changed.');
    expect(await assistant.ok('link', { ...given, supervisor: ada })).toBe('Linked.');
    expect((await list(`deals/${deal}/contacts`))[0]).toMatchObject({ id: ada, supervisor: ada });
    const text = await assistant.refusal('link', { ...given, of: 'deals.companies', id: ABSENT });
    expect(text).toContain('must be the ID of an existing company');
    expect(text).toContain('Next: Correct the arguments. describe {"resource":"deals"} lists');
    const { id: note } = recordIn(await assistant.ok('add_note', { title: 'Untyped' }));
    const untyped = await assistant.refusal('link', { of: 'notes.records', parent_id: note, id: ada });
    expect(untyped).toContain('record_type: is required');
    expect(untyped).toContain('describe {"resource":"notes"} lists fields, filters, includes and links');
  });

  test('objects and lists are also taken as strings of JSON', async () => {
    const values = {
      email: 'json@engines.example',
      custom: '{"rank": 7}',
      alt_emails: '["j@engines.example"]',
    };
    const id = await upserted('contacts', values);
    expect(await get('contacts', id)).toMatchObject({
      custom: { rank: 7 },
      alt_emails: ['j@engines.example'],
    });
    const filter = '{"email": "json@engines.example"}';
    expect(recordIn(await assistant.ok('query', { resource: 'contacts', filter }))).toMatchObject({ id });
    const stages = ['{"name": "First"}', '{"name": "Last"}'];
    const external_id = '{"source": "a", "id": "p"}';
    const pipeline = await upserted('pipelines', { name: 'Written', external_id, stages });
    expect(await get('pipelines', pipeline)).toMatchObject({ stages: [{ name: 'First' }, { name: 'Last' }] });
    for (const wrong of ['{"email"', '[]', '7'])
      expect(await assistant.refusal('query', { resource: 'contacts', filter: wrong })).toContain(
        'filter: must be an object',
      );
  });

  test('a delete is told with the way back, and a second one finds nothing', async () => {
    const id = await upserted('contacts', { email: 'gone@engines.example' });
    const text = await assistant.ok('delete', { resource: 'contacts', id });
    const [, request = ''] = /crm undelete --request (\S+)$/.exec(text) ?? [];
    expect(await assistant.refusal('delete', { resource: 'contacts', id })).toStartWith(
      'RESOURCE_NOT_FOUND: ',
    );
    await sandbox.ok(['undelete', '--request', request]);
    expect(await get('contacts', id)).toMatchObject({ email: 'gone@engines.example' });
  });
});
