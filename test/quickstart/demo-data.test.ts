// The demo data of quickstart: deterministic, consistent, fictional, and as the declarations want it.
import { describe, expect, test } from 'bun:test';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { buildDemoData } from '../../cli/quickstart/data/demo-data.ts';
import { type DemoRecord, READ_ONLY, WRITABLE, type WritableName } from '../../cli/quickstart/data/types.ts';
import { linkSchema } from '../../db/model/links.ts';
import { DEFAULT_STAGES } from '../../db/model/resources/pipelines.ts';
import { getResource } from '../../db/model/resources/registry.ts';

const NOW = Date.parse('2026-05-13T10:00:00Z');
const DAY_MS = 86_400_000;
const demo = buildDemoData(NOW);
const everything = JSON.stringify(demo);

const keys = new Set([
  ...demo.users.map((user) => user.key),
  ...DEFAULT_STAGES.map((stage) => `stages/${stage.name}`),
  ...WRITABLE.flatMap((name) => demo.records[name].map((record) => record.key)),
]);

function values(name: WritableName, field: string): unknown[] {
  return demo.records[name].map((record) => record.data[field]);
}

describe('every record', () => {
  for (const name of WRITABLE) {
    test(`of ${name} satisfies the declaration`, () => {
      const schema = Compile(getResource(name).createSchema);
      for (const { key, data } of demo.records[name]) {
        expect({ key, errors: schema.Errors(data) }).toEqual({ key, errors: [] });
      }
    });
  }

  for (const name of READ_ONLY) {
    test(`of ${name} has declared fields with declared values`, () => {
      const { fields } = getResource(name);
      const beyond = name === 'recordings' ? ['meeting_external_id', 'language', 'segments'] : [];
      for (const entry of demo[name]) {
        for (const [field, value] of Object.entries(entry)) {
          if (beyond.includes(field)) continue;
          const schema = fields[field]?.schema;
          if (schema === undefined) throw new Error(`${name} has no field ${field}`);
          expect({
            field,
            value,
            ok: Compile(Type.Union([schema, Type.Null()])).Check(matched(field, value)),
          }).toEqual({ field, value, ok: true });
        }
      }
    });
  }

  // The service adds the contact that an attendee's email belongs to.
  function matched(field: string, value: unknown): unknown {
    const withContact = (person: unknown) => ({ ...(person as object), contact_id: null });
    if (field === 'attendees') return (value as unknown[]).map(withContact);
    return field === 'attendee' ? withContact(value) : value;
  }

  test('is the same each time, and only dates depend on the day', () => {
    expect(buildDemoData(NOW + 3_600_000)).toEqual(demo);
    const later = buildDemoData(NOW + 45 * DAY_MS);
    expect(later.records.companies).toEqual(demo.records.companies);
    expect(later.records.contacts).toEqual(demo.records.contacts);
    expect(later.records.deals.map((deal) => deal.data.name)).toEqual(values('deals', 'name') as string[]);
    expect(later.recordings.map((one) => one.segments)).toEqual(demo.recordings.map((one) => one.segments));
    expect(later.records.tasks).not.toEqual(demo.records.tasks);
  });
});

describe('the whole', () => {
  test('has a few thousand records of every resource', () => {
    const counts = WRITABLE.map((name) => [name, demo.records[name].length]);
    expect(Object.fromEntries(counts)).toEqual({
      ...{ companies: 300, contacts: 2_400, deals: 700, tasks: 500, notes: 300, segments: 3 },
      interactions: 800,
    });
    expect(READ_ONLY.map((name) => demo[name].length)).toEqual([40, 14, 20]);
  });

  test('associates every meeting with a deal and its company', () => {
    const deals = new Map(demo.records.deals.map(({ key, data }) => [key, data]));
    for (const { deal_id, company_id } of demo.meetings) {
      expect(deals.get(String(deal_id))?.company_id).toBe(company_id ?? '');
    }
  });

  test('refers only to records that exist, and to none that is created later', () => {
    const known = new Set([
      ...demo.users.map((user) => user.key),
      ...DEFAULT_STAGES.map((one) => `stages/${one.name}`),
    ]);
    for (const name of WRITABLE) {
      const { fields } = getResource(name);
      for (const { key, data } of demo.records[name]) {
        for (const [field, value] of Object.entries(data)) {
          if (fields[field]?.kind !== 'reference' || value === null) continue;
          expect({ key, field, value, known: known.has(String(value)) }).toEqual({
            key,
            field,
            value,
            known: true,
          });
        }
        known.add(key);
      }
    }
  });

  test('makes links that the declarations know, each once', () => {
    for (const link of demo.links) {
      const declared = getResource(link.parent.split('/')[0] ?? '').links[link.name];
      if (declared === undefined) throw new Error(`no link ${link.name}`);
      expect(Compile(linkSchema(declared)).Check(link.body)).toBe(true);
      expect(
        [link.parent, ...Object.values(link.body).filter((value) => value.includes('/'))].filter(
          (key) => !keys.has(key),
        ),
      ).toEqual([]);
    }
    const same = demo.links.map((link) => JSON.stringify([link.parent, link.name, link.body]));
    expect(new Set(same).size).toBe(same.length);
  });

  test('can be loaded by one key within a minute', () => {
    const batches = WRITABLE.reduce((sum, name) => sum + Math.ceil(demo.records[name].length / 100), 0);
    // Notes wait for the notes they answer: at most two batches more. Two requests read the pipelines.
    expect(batches + 2 + 2 + demo.links.length).toBeLessThanOrEqual(200);
  });

  test('is fictional: example domains, and telephone numbers reserved for fiction', () => {
    const domains = everything.match(/(?<=@|https?:\/\/)[a-z0-9.-]+/g) ?? [];
    expect(domains.length).toBeGreaterThan(3_000);
    expect(domains.filter((domain) => !domain.endsWith('.example'))).toEqual([]);
    expect(
      values('companies', 'domain').filter((domain) => !/^[a-z0-9-]+\.example$/.test(String(domain))),
    ).toEqual([]);
    const phones = values('contacts', 'phone').filter((phone) => phone !== null);
    expect(phones.length).toBeGreaterThan(1_000);
    expect(phones.filter((phone) => !RESERVED.test(String(phone)))).toEqual([]);
  });

  const RESERVED = new RegExp(
    [
      String.raw`\+1 \d{3} 555 01\d\d`,
      String.raw`\+44 (20 7946|161 496|117 496|113 496|131 496) 0\d{3}`,
      String.raw`\+353 20 91\d \d{4}`,
      String.raw`\+49 (30 23125|40 66969|89 99998|221 4710|69 90009) \d{3}`,
      String.raw`\+33 (1 99 00|2 61 91|3 53 01|4 65 71|5 36 49) \d\d \d\d`,
      String.raw`\+46 (8 465 004|31 390 06|40 628 04) \d\d`,
      String.raw`\+61 [2378] 5550 \d{4}`,
    ]
      .map((range) => `^${range}$`)
      .join('|'),
  );
});

describe('companies and contacts', () => {
  test('have names, domains and emails that no other has', () => {
    for (const [name, field] of [
      ['companies', 'name'],
      ['companies', 'domain'],
      ['contacts', 'email'],
    ] as const) {
      expect(new Set(values(name, field)).size).toBe(demo.records[name].length);
    }
    const emails = demo.records.contacts.flatMap(({ data }) => [
      data.email,
      ...(data.alt_emails as string[]),
    ]);
    expect(new Set(emails).size).toBe(emails.length);
  });

  test("contacts' emails are at their company's domain", () => {
    const domains = new Map(demo.records.companies.map(({ key, data }) => [key, String(data.domain)]));
    for (const { data } of demo.records.contacts) {
      expect(String(data.email)).toEndWith(`@${domains.get(String(data.company_id))}`);
    }
  });

  test('come from many countries, every company with somebody to talk to', () => {
    expect(new Set(values('companies', 'country')).size).toBeGreaterThan(20);
    expect(new Set(values('companies', 'industry')).size).toBe(16);
    expect(new Set(values('contacts', 'company_id')).size).toBe(300);
  });
});

describe('deals, tasks, notes and interactions', () => {
  test('deals fill every stage; closed ones lie in the past', () => {
    for (const stage of DEFAULT_STAGES) {
      const those = demo.records.deals.filter(({ data }) => data.stage_id === `stages/${stage.name}`);
      expect(those.length).toBeGreaterThan(40);
      if (stage.type !== 'open') {
        expect(those.filter(({ data }) => String(data.estimated_close_date) >= '2026-05-13')).toEqual([]);
      }
    }
  });

  test("a deal's point of contact works for its company, a task's deal too", () => {
    const find = (key: unknown): DemoRecord['data'] => {
      const [name = ''] = String(key).split('/');
      return demo.records[name as WritableName].find((record) => record.key === key)?.data ?? {};
    };
    for (const { data } of demo.records.deals) {
      expect(find(data.point_of_contact_id).company_id).toBe(data.company_id ?? '');
    }
    for (const { data } of demo.records.tasks)
      expect(find(data.deal_id).company_id).toBe(data.company_id ?? '');
  });

  test('notes stand in trees three deep, and no text has a gap left to fill', () => {
    const parents = new Map(demo.records.notes.map(({ key, data }) => [key, data.parent_id]));
    const depth = (key: string): number => {
      const parent = parents.get(key);
      return parent === null || parent === undefined ? 0 : 1 + depth(String(parent));
    };
    expect(new Set([...parents.keys()].map(depth))).toEqual(new Set([0, 1, 2]));
    expect(everything.match(/\{[a-z]+\}/g)).toBeNull();
  });

  test('no interaction is a duplicate of another', () => {
    const identities = demo.records.interactions.map(({ data }) =>
      data.primary_id === undefined
        ? [data.main_contact, data.type, data.direction, data.title, data.interaction_date].join('|')
        : [data.type, data.primary_id, data.secondary_id].join('|'),
    );
    expect(new Set(identities).size).toBe(800);
    expect(values('interactions', 'interaction_date').filter((at) => Number(at) >= NOW)).toEqual([]);
  });
});

describe('meetings, recordings and bookings', () => {
  const contactEmails = new Set(values('contacts', 'email'));

  test('are held with contacts, and called by users', () => {
    const users = new Set<unknown>(demo.users.map((user) => user.email));
    for (const meeting of demo.meetings) {
      const emails = (meeting.attendees as { email: string }[]).map(({ email }) => email);
      expect(users.has((meeting.organizer as { email: string }).email)).toBe(true);
      expect(emails.filter((email) => !users.has(email) && !contactEmails.has(email))).toEqual([]);
      expect(emails.length).toBeGreaterThanOrEqual(2);
      expect(Number(meeting.end_time)).toBeGreaterThan(Number(meeting.start_time));
    }
    for (const booking of demo.bookings) {
      expect(contactEmails.has((booking.attendee as { email: string }).email)).toBe(true);
      expect(booking.cancellation_reason !== null).toBe(booking.status === 'cancelled');
    }
  });

  test('twelve recordings of past meetings have a transcript whose lines follow each other', () => {
    const meetings = new Map(demo.meetings.map((meeting) => [meeting.external_id, meeting]));
    const spoken = demo.recordings.filter((one) => Array.isArray(one.segments) && one.segments.length > 0);
    expect(spoken.length).toBe(12);
    for (const recording of spoken) {
      const meeting = meetings.get(recording.meeting_external_id ?? '');
      expect(Number(meeting?.end_time)).toBeLessThan(NOW);
      const attendees = JSON.stringify(meeting?.attendees);
      expect(
        new Set((recording.segments as { speaker: { email: string } }[]).map((one) => one.speaker.email))
          .size,
      ).toBeGreaterThanOrEqual(2);
      let clock = 0;
      for (const segment of recording.segments as {
        speaker: { email: string };
        start_time: number;
        end_time: number;
      }[]) {
        expect(segment.start_time).toBeGreaterThanOrEqual(clock);
        expect(segment.end_time).toBeGreaterThan(segment.start_time);
        expect(attendees).toContain(segment.speaker.email);
        clock = segment.end_time;
      }
      expect(Number(recording.duration_seconds)).toBeGreaterThanOrEqual(clock);
    }
    expect(demo.recordings.map((one) => one.segments).slice(-2)).toEqual([[], null]);
  });

  test('every external id is used once', () => {
    for (const name of READ_ONLY) {
      expect(new Set(demo[name].map((entry) => entry.external_id)).size).toBe(demo[name].length);
    }
  });
});
