// Makes the interactions of the demo data.
import { DAY_MS } from '../../input/instant.ts';
import { workingHour } from './days.ts';
import { createRandom } from './random.ts';
import { type DemoDeal, fillIn } from './sales.ts';
import type { DemoRecord } from './types.ts';

interface Kind {
  readonly type: string;
  readonly direction: string;
  readonly weight: number;
  readonly texts: readonly (readonly [title: string, summary: string])[];
}

const KINDS: readonly Kind[] = [
  {
    type: 'EMAIL',
    direction: 'OUTBOUND',
    weight: 30,
    texts: [
      [
        'Offer for {sites}',
        'Hello {first}, please find our offer for {sites} attached. It is valid for 30 days.',
      ],
      ['Following up on {offer}', 'Hello {first}, did you have time to look at it? I am glad to call.'],
      ['Minutes of our call', 'Sent {first} the minutes with the open points and who takes them.'],
      ['Calibration certificates', 'Sent {first} the sample certificates and the data sheet.'],
    ],
  },
  {
    type: 'EMAIL',
    direction: 'INBOUND',
    weight: 24,
    texts: [
      [
        'Re: Offer for {sites}',
        'Thank you, we will discuss it on Thursday. Is delivery before the audit possible?',
      ],
      ['Question about batteries', '{first} asks how long a battery lasts at minus 20 degrees.'],
      ['Price for more sites', '{company} may add further sites next year and asks for a price per point.'],
    ],
  },
  {
    type: 'DIRECT_MESSAGE',
    direction: 'INBOUND',
    weight: 8,
    texts: [
      ['Running ten minutes late', '{first} is stuck in traffic.'],
      ['Quick question', '{first}: can the alarm go to two telephones at once?'],
    ],
  },
  {
    type: 'MEETING',
    direction: 'HYBRID',
    weight: 10,
    texts: [
      ['Visit in {city}', 'Counted rooms with {first}; coverage is good except in the basement.'],
      ['Demonstration for {company}', 'Showed alarms and reports. Most questions were about access rights.'],
    ],
  },
  {
    type: 'MANUAL',
    direction: 'OUTBOUND',
    weight: 16,
    texts: [
      ['Called {first}', 'Talked for ten minutes about {offer}. Call again in two weeks.'],
      ['Called, left a message', 'Voice mail. Asked {first} to call back.'],
      ['Called the switchboard of {company}', '{first} is away until Monday.'],
    ],
  },
  {
    type: 'MEMO',
    direction: 'INTERNAL',
    weight: 6,
    texts: [['Passed {company} on to {owner}', 'Territory changed; the open questions are in the notes.']],
  },
  {
    type: 'API_EVENT',
    direction: 'EVENT',
    weight: 4,
    texts: [['Downloaded the data sheet', 'From the website, page on {offer}.']],
  },
  {
    type: 'VOICE_NOTE',
    direction: 'INBOUND',
    weight: 2,
    texts: [['Voice message from {first}', 'Asks for a new date for the site visit in {city}.']],
  },
];

/** `count` interactions of the last 300 days with the contacts that deals hang on. */
export function makeInteractions(count: number, deals: readonly DemoDeal[], today: number): DemoRecord[] {
  const random = createRandom('interactions');
  return Array.from({ length: count }, (_, index) => {
    const deal = random.pick(deals);
    const kind = random.weighted(KINDS.map((one) => [one, one.weight] as const));
    const [title, summary] = random.pick(kind.texts);
    const data = {
      ...{ type: kind.type, direction: kind.direction },
      ...{ title: fillIn(title, deal), summary: fillIn(summary, deal) },
      // The seconds differ, or two alike would count as one and the same interaction.
      interaction_date: workingHour(today - random.integer(1, 300) * DAY_MS, random) + (index % 900) * 1_000,
      main_contact: deal.contact.key,
      ...(kind.type === 'EMAIL' && {
        primary_id: `msg-${10_000 + index}`,
        secondary_id: `thread-${deal.key.slice(6)}`,
      }),
    };
    return { key: `interactions/${index}`, data };
  });
}
