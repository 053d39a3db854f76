// Every filter of every list: what it finds, what it leaves out, and that filters combine.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { CONTRACT, type Contract } from '../support/contract.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { makeNamedRecords, T } from '../support/named-records.ts';
import { type Client, clientOf, expectFault } from '../support/v2.ts';

let harness: Harness;
let api: Client;
/** Name of a record in the rows below → its id. */
let ids: Record<string, string>;

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
  ids = await makeNamedRecords(harness, api);
  for (const [path, id] of [
    [`/contacts/${ids.ada}`, 'Ada:1'],
    [`/companies/${ids.acme2}`, 'Ada:1'],
    [`/deals/${ids.big}`, '7'],
    [`/tasks/${ids.mail}`, '7'],
    [`/notes/${ids.under}`, '7'],
    [`/segments/${ids.firms}`, '7'],
  ])
    await api.post(`${path}/external_ids`, { source: 'crm', id });
});
afterAll(() => harness.close());

const INSTANT = new Date(T).toISOString();

// `$name` stands for the id of that record, or of that user.
const ROWS: Record<string, [query: string, found: string][]> = {
  contacts: [
    ['email=ada@x.example', 'ada'],
    ['email=ADA@Y.example', 'ada'],
    ['email=ada', ''],
    ['phone=%2B44 1', 'ada bob'],
    ['phone=%2B44 2', 'bob'],
    ['phone=44', ''],
    ['company_id=$acme', 'ada bob'],
    ['owner_id=$alice', 'ada cyd'],
    ['segment_id=$people', 'ada cyd'],
    ['segment_id=$firms', ''],
    ['segment_id=$people&company_id=$acme', 'ada'],
    ['segment_id=$people&owner_id=$alice&phone=%2B44%201&email=ada@x.example', 'ada'],
    ['owner_id=$bob', ''],
    ['external_id=crm:Ada:1', 'ada'],
    ['external_id=crm:ada:1', ''],
    ['external_id=other:Ada:1', ''],
    ['external_id=crm:Ada:1&email=ada@x.example&segment_id=$people', 'ada'],
    ['external_id=crm:Ada:1&company_id=$acme2', ''],
  ],
  companies: [
    ['name=acme', 'acme ACME'],
    ['name=AcMe 2', 'acme2'],
    ['name=acm', ''],
    ['domain=acme.example', 'acme'],
    ['domain=https://www.ACME.example/about', 'acme'],
    ['owner_id=$bob', 'ACME'],
    ['segment_id=$firms', 'acme'],
    ['segment_id=$people', ''],
    ['name=ACME&owner_id=$alice', 'acme'],
    ['external_id=crm:Ada:1', 'acme2'],
  ],
  deals: [
    ['pipeline_id=$sales', 'big own'],
    ['pipeline_id=$partners', 'linked'],
    ['stage_id=$discovery', 'own'],
    ['status=won', 'big'],
    ['status=open', 'own linked'],
    ['status=lost', ''],
    ['owner_id=$alice', 'big linked'],
    ['company_id=$acme', 'big linked'],
    ['company_id=$acme2', ''],
    ['contact_id=$ada', 'own linked'],
    ['contact_id=$bob', ''],
    ['contact_id=$ada&company_id=$acme', 'linked'],
    ['contact_id=$ada&status=open&pipeline_id=$sales', 'own'],
    ['external_id=crm:7&status=won&sort_by=updated_at', 'big'],
    ['external_id=crm:7&status=open', ''],
  ],
  tasks: [
    ['done=true', 'call'],
    ['done=false', 'mail none'],
    ['main_assignee_id=$alice', 'mail'],
    ['company_id=$acme', 'mail'],
    ['deal_id=$big', 'call'],
    ['person_id=$ada', 'call'],
    [`due_before=${T}`, ''],
    [`due_before=${T + 1}`, 'call'],
    [`due_after=${T}`, 'call mail'],
    [`due_after=${T + 1}`, 'mail'],
    [`due_after=${INSTANT}`, 'call mail'],
    [`due_after=${T}&due_before=${T + 1}`, 'call'],
    [`due_after=${INSTANT}&done=false`, 'mail'],
    ['external_id=crm:7', 'mail'],
  ],
  notes: [
    ['is_archived=true', 'top'],
    ['is_archived=false', 'under'],
    ['parent_id=$top', 'under'],
    ['parent_id=$under', ''],
    ['record_id=$ada', 'top under'],
    ['record_id=$big', 'under'],
    ['record_id=$cyd', ''],
    ['record_id=$ada&is_archived=false', 'under'],
    ['external_id=crm:7', 'under'],
  ],
  segments: [
    ['record_type=contact', 'people'],
    ['record_type=company', 'firms'],
    ['external_id=crm:7', 'firms'],
    ['external_id=crm:7&record_type=contact', ''],
  ],
  interactions: [
    ['contact_id=$ada', 'hello'],
    ['company_id=$acme', 'hello reply'],
    ['type=MEMO', 'memo'],
    ['type=MEETING', ''],
    ['direction=INBOUND', 'hello memo'],
    ['company_id=$acme&direction=OUTBOUND', 'reply'],
    ['contact_id=$ada&type=MEMO', ''],
  ],
  meetings: [
    ['deal_id=$big', 'kickoff'],
    ['company_id=$acme', 'review'],
    [`start_before=${T}`, ''],
    [`start_before=${T + 1}`, 'kickoff'],
    [`start_after=${T}`, 'kickoff review'],
    [`start_after=${T + 1}`, 'review'],
    [`start_after=${T}&deal_id=$own`, 'review'],
  ],
  recordings: [
    ['meeting_id=$kickoff', 'taped'],
    ['has_transcript=true', 'taped'],
    ['has_transcript=false', 'silent'],
    ['has_transcript=false&meeting_id=$kickoff', ''],
  ],
  bookings: [
    ['status=booked', 'intro'],
    ['status=rescheduled', 'moved'],
    ['status=cancelled', 'off'],
    ['attendee_email=ada@x.EXAMPLE', 'intro off'],
    ['attendee_email=ada', ''],
    [`start_before=${T}`, 'off'],
    [`start_after=${T}`, 'intro moved'],
    [`start_after=${INSTANT}&attendee_email=ada@x.example`, 'intro'],
  ],
};

/** The query with IDs instead of names. */
function filled(query: string): string {
  const { alice = '', bob = '' } = harness;
  return query
    .replaceAll(
      /(owner_id|main_assignee_id)=\$(\w+)/g,
      (_, name, user) => `${name}=${user === 'alice' ? alice : bob}`,
    )
    .replaceAll(/\$(\w+)/g, (_, name) => ids[name] ?? name);
}

for (const [resource, rows] of Object.entries(ROWS)) {
  describe(resource, () => {
    const { filters } = CONTRACT[resource] as Contract;

    test('every filter of the contract has a row here', () => {
      const used = rows.flatMap(([query]) =>
        query.split('&').flatMap((pair) => pair.split('=')[0]?.replace('sort_by', '') || []),
      );
      expect([...new Set(used)].sort()).toEqual([...filters].sort());
    });

    for (const [query, found] of rows) {
      test(`${query} finds ${found || 'nothing'}`, async () => {
        const names = new Map(Object.entries(ids).map(([name, id]) => [id, name]));
        const shown = (await api.ids(`/${resource}?limit=200&${filled(query)}`)).map(
          (id) => names.get(id) ?? id,
        );
        expect(shown.sort()).toEqual(
          found
            .split(' ')
            .filter((name) => name !== '')
            .sort(),
        );
      });
    }

    for (const name of filters) {
      test(`${name} is not empty, not repeated, and of its type`, async () => {
        const path = `/${resource}?${name}=`;
        expectFault(await api.get(path), 'VALIDATION_FAILED', name);
        expectFault(await api.get(`/${resource}?${name}`), 'VALIDATION_FAILED', name);
        expectFault(await api.get(`${path}true&${name}=true`), 'VALIDATION_FAILED', name);
        expectFault(await api.get(`${path}a%00b`), 'VALIDATION_FAILED', name);
        expectFault(await api.get(`${path}%ff`), 'VALIDATION_INVALID_FORMAT', name);
        const isInstant = /_(before|after)$/.test(name);
        const isExternal = name === 'external_id';
        const isFree =
          !isInstant && !isExternal && !/^(done|is_|has_|status|type|direction|record_type)/.test(name);
        const reply = await api.get(`${path}nonsense`);
        if (isFree) expect(reply.body.data).toEqual([]);
        else
          expectFault(
            reply,
            isInstant || isExternal ? 'VALIDATION_INVALID_FORMAT' : 'VALIDATION_FAILED',
            name,
          );
      });
    }
  });
}
