// A timeline for people: a heading, then a time axis with a day's entries under its date.
import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { nameOf } from '../api/record-name.ts';
import { differencesText } from '../follow/change-line.ts';
import type { Names } from '../follow/names.ts';
import { counted } from '../terminal/format.ts';
import { neutralizeLine } from '../terminal/text.ts';

export interface CardLayout {
  /** Of the terminal; Infinity without one. */
  columns: number;
  isColored: boolean;
  nowMs: number;
}

const KIND_CHARACTERS = 'interaction'.length;
const COLORS: Readonly<Record<string, string>> = {
  ...{ interaction: '36', meeting: '35', booking: '35', note: '33', task: '32', deal: '34', stage: '34' },
};

/** The head of the card: whose timeline it is. */
export function heading({ singular }: Resource, record: Data, layout: CardLayout): string {
  const name = nameOf(record) ?? String(record.id);
  const facts = [record.title, record.email, record.domain, record.status].filter(
    (fact) => typeof fact === 'string' && fact !== name,
  );
  const about = [singular, ...facts].join(' · ');
  const line = cut(neutralizeLine(`${name}  ${about}`), layout.columns);
  return `${layout.isColored ? `\u001b[1m${line.slice(0, name.length)}\u001b[22m${line.slice(name.length)}` : line}\n`;
}

/** The lines of entries, page by page: a date where a day begins, and the present where it lies between two. */
export class Axis {
  readonly #names: Pick<Names, 'of'>;
  readonly #layout: CardLayout;
  #day = '';
  #isAhead: boolean | null = null;

  constructor(names: Pick<Names, 'of'>, layout: CardLayout) {
    this.#names = names;
    this.#layout = layout;
  }

  /** The lines of entries that follow those before. */
  lines(entries: readonly Data[]): string {
    return entries.map((entry) => `${this.#marks(entry)}${this.#line(entry)}`).join('');
  }

  #marks(entry: Data): string {
    const at = String(entry.at);
    const isAhead = Date.parse(at) > this.#layout.nowMs;
    const now = this.#isAhead === true && !isAhead ? `${this.#paint('1', '┼ now')}\n` : '';
    this.#isAhead = isAhead;
    const day = at.slice(0, at.indexOf('T'));
    const isNew = day !== this.#day;
    this.#day = day;
    return now + (isNew ? `${this.#paint('2', day)}\n` : '');
  }

  #line(entry: Data): string {
    const { columns } = this.#layout;
    const kind = String(entry.kind);
    const at = String(entry.at);
    const time = at.slice(at.indexOf('T') + 1).slice(0, 'hh:mm'.length);
    const dot = this.#isAhead === true ? '○' : '•';
    const head = `│ ${dot} ${time}  ${kind.padEnd(KIND_CHARACTERS)}  `;
    const text = cut(neutralizeLine(this.#textOf(entry)), Math.max(1, columns - head.length));
    const { isColored } = this.#layout;
    if (!isColored) return `${head}${text}\n`;
    const mark = this.#paint(COLORS[kind] ?? '39', `${dot} ${time}  ${kind.padEnd(KIND_CHARACTERS)}`);
    return `${this.#paint('2', '│')} ${mark}  ${text}\n`;
  }

  #textOf({ kind, title, detail, record_type, record_id }: Data): string {
    const name = typeof title === 'string' ? title : String(record_id);
    const values = (detail ?? {}) as Data;
    if (kind === 'stage') return `${name}: ${values.from ?? '(deleted)'} → ${values.to ?? '(deleted)'}`;
    if (kind === 'task' && values.is_done === true) return `${name} (done)`;
    if (kind === 'meeting' && Array.isArray(values.recording_ids) && values.recording_ids.length > 0)
      return `${name} (${counted(values.recording_ids.length, 'recording')})`;
    if (kind !== 'change' || detail === null) return name;
    const { before, after } = values as { before?: Data; after?: Data };
    return `${name}: ${differencesText(String(record_type), before ?? {}, after ?? {}, this.#names)}`;
  }

  #paint(code: string, text: string): string {
    return this.#layout.isColored ? `\u001b[${code}m${text}\u001b[0m` : text;
  }
}

function cut(text: string, columns: number): string {
  if (Bun.stringWidth(text) <= columns) return text;
  return `${text.slice(0, Math.max(0, columns - 1)).toWellFormed()}…`;
}
