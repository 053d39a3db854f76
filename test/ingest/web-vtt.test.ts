// WebVTT files: what they give, and what is reported of bad ones.
import { describe, expect, test } from 'bun:test';
import { Findings } from '../../cli/ingest/entries.ts';
import { readWebVtt } from '../../cli/ingest/web-vtt.ts';
import { pieces, told } from '../support/ingest-readers.ts';

describe('WebVTT', () => {
  const vtt = async (text: string) => {
    const findings = new Findings();
    const { segments, ...rest } = await readWebVtt(pieces(text), 'test.vtt', findings);
    const lines = segments.map(
      ({ speaker, start_time, end_time, speech }) => `${start_time}-${end_time} ${speaker.name}: ${speech}`,
    );
    return { ...rest, lines, faults: told(findings.faults) };
  };

  test('cues become segments; notes, styles and regions do not', async () => {
    const text = `WEBVTT - Kick-off
Kind: captions
Language: en

NOTE made by hand
in two lines

STYLE
::cue { color: red }

REGION
id:r

1
00:00:01.000 --> 00:00:02.500 align:start position:0%
<v Ada Lovelace>Good morning,
everyone &amp; <i>welcome</i>.</v>

01:00:00.000 --> 01:00:01.040
<v.loud Charles>Thank you</v> <v Ada>You&nbsp;are &lt;here&gt; &#x2713;</v>

00:03.000 --> 00:04.000
nobody's &constructor; &toString; &nope;
`;
    expect(await vtt(text)).toEqual({
      language: 'en',
      lines: [
        '1-2.5 Ada Lovelace: Good morning, everyone & welcome.',
        '3600-3601.04 Charles: Thank you',
        '3600-3601.04 Ada: You are <here> ✓',
        "3-4 null: nobody's &constructor; &toString; &nope;",
      ],
      faults: [],
    });
    expect((await vtt(`\ufeff${text.replaceAll('\n', '\r\n')}`)).lines.length).toBe(4);
  });

  test('names before a colon are speakers where most cues have them and none has a voice', async () => {
    const zoom =
      'WEBVTT\n\n1\n00:01.000 --> 00:02.000\nAda Lovelace: Note: this\n\n2\n00:02.000 --> 00:03.000\nCharles: yes\n\n3\n00:03.000 --> 00:04.000\nand on\n';
    expect((await vtt(zoom)).lines).toEqual([
      '1-2 Ada Lovelace: Note: this',
      '2-3 Charles: yes',
      '3-4 null: and on',
    ]);
    const plain = 'WEBVTT\n\n00:01.000 --> 00:02.000\nNote: this\n\n00:02.000 --> 00:03.000\nyes\n';
    expect((await vtt(plain)).lines).toEqual(['1-2 null: Note: this', '2-3 null: yes']);
  });

  test.each([
    [
      'a timing line without a blank line before it',
      '00:01.000 --> 00:02.000\na\nb\n00:02.000 --> 00:03.000\nc\n',
      ['1-2 null: a b', '2-3 null: c'],
    ],
    ['a timing line right after the header', '', ['1-2 null: a']],
    ['an arrow without spaces', '00:01.000-->00:02.000\na\n', ['1-2 null: a']],
    [
      'an arrow between tabs, and settings at once',
      '\t00:01.000\t-->\t00:02.000align:start\na\n',
      ['1-2 null: a'],
    ],
    ['hours of one digit or many', '1:00:00.000 --> 100:00:00.000\na\n', ['3600-360000 null: a']],
    [
      'lines that a carriage return alone ends',
      'x\r00:01.000 --> 00:02.000\ra\r\r00:02.000 --> 00:03.000\rb',
      ['1-2 null: a', '2-3 null: b'],
    ],
    ['a cue that takes no time', '00:01.000 --> 00:01.000\na\n', ['1-1 null: a']],
    ['an identifier that looks like a note', 'NOTE 1\n00:01.000 --> 00:02.000\na\n', ['1-2 null: a']],
    ['NUL', '00:01.000 --> 00:02.000\na\0b\n', ['1-2 null: a\ufffdb']],
    [
      'text after the end of a voice',
      '00:01.000 --> 00:02.000\n<v Ada>yes</v> (laughs)\n',
      ['1-2 Ada: yes', '1-2 null: (laughs)'],
    ],
  ])('%s is taken', async (_, cues, expected) => {
    const text = cues === '' ? 'WEBVTT\nLanguage: en\n00:01.000 --> 00:02.000\na\n' : `WEBVTT\n\n${cues}`;
    expect(await vtt(text)).toEqual({ language: cues === '' ? 'en' : null, lines: expected, faults: [] });
  });

  test.each([
    '1\n\n00:01.000 - 00:02.000\na\n',
    '00:01.0000 --> 00:02.000\na\n',
    '000:01.000 --> 00:02.000\na\n',
    'a --> b\n',
  ])('%j is reported', async (cues) => {
    const { lines, faults } = await vtt(`WEBVTT\n\n00:00.000 --> 00:01.000\nfirst\n\n${cues}`);
    expect(lines).toEqual(['0-1 null: first']);
    expect(faults.length).toBeGreaterThan(0);
  });

  test('malformed cues are reported with their line, and the good ones stay', async () => {
    const text =
      'WEBVTT\n\nno timing\nat all\n\n00:00:61.000 --> 00:02.000\nx\n\nid\n00:05.000 --> 00:04.000\nx\n\n00:05,000 --> 00:06,000\nx\n\n00:07.000 --> 00:08.000\ngood\n';
    expect(await vtt(text)).toMatchObject({
      lines: ['7-8 null: good'],
      faults: [
        '3: the cue does not have a timing line like 00:00:01.000 --> 00:00:02.000',
        '6: the cue\'s timing is not valid: "00:00:61.000 --> 00:02.000"',
        '10: the cue ends before it starts',
        '13: the cue\'s timing is not valid: "00:05,000 --> 00:06,000"',
      ],
    });
  });

  test.each(['', 'WEBVTTX\n', '1\n00:00:01,000 --> 00:00:02,000\nan SRT file\n'])(
    '%p is refused whole',
    async (text) => {
      await expect(vtt(text)).rejects.toThrow('is not WebVTT');
    },
  );
});
