// Makes the notes of the demo data: some stand alone, some are trees of answers.
import { createRandom, type Random } from './random.ts';
import { type DemoDeal, fillIn } from './sales.ts';
import type { DemoLink, DemoRecord } from './types.ts';

/** A note, the deal it is about, and how deep it stands in its tree. */
interface DemoNote extends DemoRecord {
  readonly deal: DemoDeal;
  readonly depth: number;
}

type Texts = readonly (readonly [title: string, content: string])[];

const ROOTS: Texts = [
  [
    'First call with {first}',
    '{first} looks after {sites}. Readings are still written down by hand twice a day. They lost a batch last summer and want alarms on the phone. Interested in {offer}; the budget is decided in the autumn.',
  ],
  [
    'Site visit in {city}',
    'Walked through with {first}. Good mobile coverage outside, none in the basement: plan a gateway with an antenna. Thick doors, so one sensor per room. Power sockets are scarce, batteries it is.',
  ],
  [
    'Who decides at {company}',
    '{first} recommends, the managing director signs. Procurement joins above 25,000. They compare three suppliers and know our price list.',
  ],
  [
    'Competition',
    'They are also talking to a maker of wired loggers. Cheaper per point, but the cabling of {sites} costs more than our whole offer. Stress installation time and the calibration certificates.',
  ],
  [
    'Requirements',
    'Must have: alarms by text message, a report for the auditor, export to a spreadsheet. Nice to have: single sign-on, an interface to their own database. Not needed: humidity.',
  ],
  [
    'Offer sent',
    'Offer for {sites} went out today. {first} wants to read it before the end of the week. Ten per cent off if they order within the quarter; not more without asking {owner}.',
  ],
  [
    'Negotiation',
    'They ask for 60 days to pay and a price fixed for three years. 45 days and two years would be fine with us. {first} is on our side.',
  ],
  [
    'Installed',
    'All devices are online. Two batteries were flat on arrival and were swapped. {first} got the accounts and was trained for an hour. First report goes out on the first of the month.',
  ],
  [
    'Complaint: too many alarms',
    'Doors stay open during deliveries, so the alarm goes off every morning. Suggest a delay of 20 minutes; {first} will try it for two weeks.',
  ],
  [
    'Reference',
    '{first} is willing to take calls from others in {industry}, twice a month at most. A short article with photographs is possible once the second site is live.',
  ],
  [
    'Why we lost',
    'The group decided on one supplier for all countries and we were not on the list. {first} was sorry. The contract runs for two years: come back in good time.',
  ],
  [
    'Change of contact',
    'The former contact has left. {first} takes over and knows little about {offer}. Offer an introduction in {city}.',
  ],
];
const ANSWERS: Texts = [
  ['Answer from {first}', 'Yes, that is how it was meant. The technical colleagues will join the next call.'],
  ['Numbers checked', 'The number of rooms is right. Two of them are not in use until next year.'],
  [
    'From the field engineer',
    'Feasible. I need half a day on site and a ladder. Earliest date is in two weeks.',
  ],
  ['Price approved', '{owner} approved the discount. Valid until the end of the quarter.'],
  ['Follow-up', 'Called again. {first} is travelling; the assistant has put a call into the diary.'],
  ['Legal', 'Data protection agreement signed by both sides and filed.'],
  ['Correction', 'They have fewer sites than we thought. The rest belongs to a sister company.'],
  ['Good news', 'The board has agreed. The purchase order should come next week.'],
];

const LINKED_NOTES_MAX = 70;

/** `count` notes, two thirds of them roots, each after the note it answers; and the links to what they are about. */
export function makeNotes(
  count: number,
  deals: readonly DemoDeal[],
): { notes: DemoRecord[]; links: DemoLink[] } {
  const random = createRandom('notes');
  const notes: DemoNote[] = [];
  while (notes.length < count) notes.push(makeNote(notes, Math.round((count * 2) / 3), deals, random));
  const linked = notes.filter((note) => note.depth === 0).slice(0, LINKED_NOTES_MAX);
  return {
    notes: notes.map(({ key, data }) => ({ key, data })),
    links: linked.map((note) => linkNote(note, random)),
  };
}

function makeNote(
  earlier: readonly DemoNote[],
  rootCount: number,
  deals: readonly DemoDeal[],
  random: Random,
): DemoNote {
  const key = `notes/${earlier.length}`;
  const parent = earlier.length < rootCount ? undefined : pickParent(earlier, rootCount, random);
  const deal = parent?.deal ?? random.pick(deals);
  const [title, content] = random.pick(parent === undefined ? ROOTS : ANSWERS);
  const data = {
    title: fillIn(title, deal),
    content: fillIn(content, deal),
    parent_id: parent?.key ?? null,
    is_archived: random.chance(0.08),
  };
  return { key, data, deal, depth: parent === undefined ? 0 : parent.depth + 1 };
}

// Answers go to roots first and to answers after that, so that few batches wait for an earlier one.
function pickParent(earlier: readonly DemoNote[], rootCount: number, random: Random): DemoNote {
  const answersSoFar = earlier.length - rootCount;
  const depth = answersSoFar < rootCount * 0.35 ? 0 : 1;
  return random.pick(earlier.filter((note) => note.depth === depth));
}

function linkNote(note: DemoNote, random: Random): DemoLink {
  const [type, id] = random.pick([
    ['deal', note.deal.key],
    ['company', note.deal.company.key],
    ['contact', note.deal.contact.key],
  ] as const);
  return { parent: note.key, name: 'records', body: { record_type: type, record_id: id } };
}
