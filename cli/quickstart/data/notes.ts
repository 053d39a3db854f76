// Generates the notes of the demo data: single ones, and trees of answers.
import texts from './notes.json' with { type: 'json' };
import { createRandom, type Random } from './random.ts';
import { type DemoDeal, fillIn } from './sales.ts';
import type { DemoLink, DemoRecord } from './types.ts';

/** A note, its deal, and its depth in the tree. */
interface DemoNote extends DemoRecord {
  readonly deal: DemoDeal;
  readonly depth: number;
}

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
  const { title, content } = random.pick(parent === undefined ? texts.roots : texts.answers);
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
