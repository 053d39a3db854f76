// Reading vCards: versions, faults of one card, files that are none; and addresses as cells have them.
import { describe, expect, test } from 'bun:test';
import { readImportFlags } from '../../cli/import/flags.ts';
import { openSource } from '../../cli/import/plan/source.ts';
import { ImportJob } from '../../cli/import/session/import-job.ts';
import type { ImportParts } from '../../cli/import/session/import-parts.ts';
import { addressesIn } from '../../cli/input/addresses.ts';
import { planFor } from '../fixtures/import/plan.ts';

async function rowsOf(text: string, format: 'csv' | 'ndjson' | null = null) {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    // In small pieces, so that cards are cut anywhere.
    for (let at = 0; at < text.length; at += 7) yield Buffer.from(text.slice(at, at + 7));
  }
  const source = await openSource(bytes(), 'people.vcf', { format, encoding: null });
  return { ...source, rows: await Array.fromAsync(source.rows) };
}

const card = (...lines: string[]) => ['BEGIN:VCARD', ...lines, 'END:VCARD', ''].join('\r\n');

describe('vCards', () => {
  test('are recognized by how they begin, whatever the file is called, and have the line that they begin in', async () => {
    const text = `${card('VERSION:3.0', 'FN:A')}\r\n${card('VERSION:4.0', 'FN:B', 'EMAIL:b@x.test')}`;
    const { format, rows } = await rowsOf(`\r\n${text}`, 'csv');
    expect(format).toBe('vcf');
    expect(rows.map(({ line, original }) => [line, original])).toEqual([
      [2, { 'First Name': 'A' }],
      [7, { Email: 'b@x.test', 'First Name': 'B' }],
    ]);
  });

  test('what is preferred comes first; what a card says twice is kept apart, or said once', async () => {
    const { rows } = await rowsOf(
      card(
        ...['VERSION:3.0', 'N:Bo;Al;;;', 'TEL;TYPE=WORK:1', 'TEL;TYPE=WORK,PREF:2', 'TEL;TYPE=WORK:2'],
        ...['EMAIL:a@x.test', 'EMAIL:b@x.test', 'EMAIL;TYPE=pref:c@x.test', 'NOTE:a\\, b\\; c', 'X-THING:7'],
        ...['item1.URL:https://x.test', 'item1.X-ABLabel:Home', 'URL:https://uk.linkedin.com/in/al'],
      ),
    );
    expect(rows[0]?.original).toEqual({
      ...{ 'Last Name': 'Bo', 'First Name': 'Al', 'Business Phone': '2', 'Business Phone 2': '1' },
      ...{ Email: 'c@x.test', 'Other Emails': ['a@x.test', 'b@x.test'], Notes: 'a, b; c', 'X-THING': '7' },
      ...{ Website: 'https://x.test', LinkedIn: 'https://uk.linkedin.com/in/al' },
    });
  });

  test('profiles by their service, and addresses with escapes', async () => {
    const { rows } = await rowsOf(
      card(
        ...[
          'VERSION:4.0',
          'FN:Al',
          'URL:https\\://x.test/a\\;b\\,c',
          'SOCIALPROFILE;SERVICE-TYPE=Mastodon:https://m.test/@al',
        ],
        ...['SOCIALPROFILE;SERVICE-TYPE=LinkedIn:https://www.linkedin.com/in/al'],
        ...[
          'SOCIALPROFILE;SERVICE-TYPE=Twitter;VALUE=TEXT:al',
          'X-SOCIALPROFILE;TYPE=facebook:https://fb.test/al',
        ],
      ),
    );
    expect(rows[0]?.original).toEqual({
      ...{ 'First Name': 'Al', Website: 'https://x.test/a;b,c', 'Social Profile': 'https://m.test/@al' },
      ...{ LinkedIn: 'https://www.linkedin.com/in/al', Twitter: 'al', Facebook: 'https://fb.test/al' },
    });
  });

  test('in lines that end with CR CR LF are read like any other', async () => {
    const { format, rows } = await rowsOf(
      card('VERSION:3.0', 'N:Bo;Al;;;', 'EMAIL:a@x.test').replaceAll('\r\n', '\r\r\n'),
    );
    expect(format).toBe('vcf');
    expect(rows.map(({ original }) => original)).toEqual([
      { 'Last Name': 'Bo', 'First Name': 'Al', Email: 'a@x.test' },
    ]);
  });

  test.each(['2.1', '3.0', '4.0'])('of version %s may have lines as in 2.1', async (version) => {
    const photo = `PHOTO;ENCODING=BASE64;JPEG:${'/9j/'.repeat(20)}\r\n ${'abc='.repeat(20)}`;
    const { rows } = await rowsOf(
      card(
        ...[`VERSION:${version}`, 'N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BCl=\r\nler;Qp', photo],
        ...['TEL;CELL:123', 'TEL;WORK;VOICE:456', 'item1.EMAIL;INTERNET:a@x.test', 'PHOTO;BASE64:xyz'],
        ...['NOTE;X-A="b:c;d":a'],
      ),
    );
    expect(rows.map(({ fault, original }) => fault ?? original)).toEqual([
      {
        ...{ 'Last Name': 'Müller', 'First Name': 'Qp', 'Mobile Phone': '123', 'Business Phone': '456' },
        ...{ Email: 'a@x.test', Notes: 'a' },
      },
    ]);
  });

  test('lines of the same kind keep what Apple calls them', async () => {
    const { rows } = await rowsOf(
      card(
        ...['VERSION:3.0', 'FN:Al', 'item1.X-ABRELATEDNAMES:Eve', 'item1.X-ABLabel:_$!<Mother>!$_'],
        ...['item2.X-ABRELATEDNAMES:Bea', 'item2.X-ABLabel:Boss', 'X-ABRELATEDNAMES:Cy'],
      ),
    );
    expect(rows[0]?.original).toEqual({
      ...{ 'First Name': 'Al', 'X-ABRELATEDNAMES (Mother)': 'Eve', 'X-ABRELATEDNAMES (Boss)': 'Bea' },
      'X-ABRELATEDNAMES': 'Cy',
    });
  });

  test('without the pictures and layouts that Outlook adds', async () => {
    const design = `X-MS-OL-DESIGN;CHARSET=utf-8:<card xmlns="http://x.test/design">${'x'.repeat(2_000)}</card>`;
    const { rows } = await rowsOf(
      card('VERSION:2.1', 'FN:Al', design, 'X-MS-CARDPICTURE;TYPE=JPEG;ENCODING=BASE64:abc'),
    );
    expect(rows[0]?.original).toEqual({ 'First Name': 'Al' });
  });

  test.each(['KIND:group', 'kind:GROUP', 'X-ADDRESSBOOKSERVER-KIND:group'])(
    '%s is no row, also where an errors file of an earlier version has it',
    async (kind) => {
      const group = card('VERSION:3.0', kind, 'FN:Friends', 'N:Friends');
      const { rows, groups } = await rowsOf(group + card('VERSION:3.0', 'FN:B') + group);
      expect(rows.map(({ line, original }) => [line, original])).toEqual([[7, { 'First Name': 'B' }]]);
      expect(groups?.()).toBe(2);
      const rejected = await rowsOf(`${JSON.stringify({ _text: group, _line: 1 })}\n{"a":1}\n`, 'ndjson');
      expect([rejected.rows.length, rejected.groups?.()]).toEqual([1, 1]);
    },
  );

  test('a file with groups does not continue with a journal that counts them as rows', () => {
    const plan = planFor('contacts', ['Email']);
    const request = { ...readImportFlags({}), resource: 'contacts', input: 'people.vcf' };
    const mappingOf = (groups: number) => {
      const parts = { plan, request, resource: plan.resource, input: { groups: () => groups } };
      return new ImportJob(parts as unknown as ImportParts).mapping;
    };
    expect(mappingOf(2)).toBe(mappingOf(1));
    expect(mappingOf(1)).not.toBe(mappingOf(0));
  });

  test('a line with more parameters than anybody writes is a fault of its card', async () => {
    const many = card('VERSION:3.0', `TEL${';TYPE=home'.repeat(101)}:1`);
    const { rows } = await rowsOf(many + card('VERSION:3.0', 'FN:B', `NOTE:${';a=b'.repeat(500)}`));
    expect(rows.map(({ fault }) => fault?.message)).toEqual([
      'the vCard has a line with more than 100 parameters',
      undefined,
    ]);
  });

  test('a card that cannot be read is a fault of its own, and counts once it is corrected in the errors file', async () => {
    const bad = card('VERSION:3.0', 'FN:A', 'EMAIL').trimEnd();
    const { rows } = await rowsOf(`${bad}\r\n${card('VERSION:3.0', 'FN:B')}`);
    expect(rows.map(({ fault }) => fault?.message.split(':')[0] ?? null)).toEqual([
      'the vCard is not valid',
      null,
    ]);
    const corrected = JSON.stringify({ _text: bad.replace('EMAIL', 'EMAIL:a@x.test'), _line: 1 });
    expect((await rowsOf(`${corrected}\n`, 'ndjson')).rows[0]?.original).toMatchObject({ Email: 'a@x.test' });
    const { rows: long } = await rowsOf(card('VERSION:3.0', `FN:A\r\n${'x'.repeat(500)}`));
    expect(long[0]?.fault?.message).toMatch(/^the vCard is not valid: .{100,120}…$/);
  });

  test.each([
    ['BEGIN:VCARD\r\nFN:A\r\n', 'the card that starts in line 1 has no END:VCARD'],
    [`${card('FN:A')}name,email\r\n`, 'line 4 is outside BEGIN:VCARD and END:VCARD'],
  ])('%j is not a vCard file', async (text, why) => {
    expect(await rowsOf(text).catch(({ message }) => message)).toBe(
      `people.vcf is not a valid vCard file: ${why}.`,
    );
  });
});

test.each([
  ['a@x.test', ['a@x.test']],
  ['Ada Lovelace (ada@x.test)', ['ada@x.test']],
  ['"Lovelace, Ada" <ada@x.test>', ['ada@x.test']],
  ['a@x.test ::: b@x.test', ['a@x.test', 'b@x.test']],
  ['a@x.test, b@x.test; A@X.test', ['a@x.test', 'b@x.test']],
  ['Ada (a@x.test); Lovelace, Bob <b@x.test>', ['a@x.test', 'b@x.test']],
  ['a@x.test\nmailto:b@x.test ', ['a@x.test', 'b@x.test']],
  ['call a@x.test', []],
  ['a@x.test (work)', []],
  ['Ada Lovelace', []],
  ['', []],
])('the addresses of %j are %j', (cell, addresses) => {
  expect(addressesIn(cell)).toEqual(addresses);
});
