// Groups rejected rows by reason: number of rows, values, and how to fix them.
import { clip } from '../../../db/model/text.ts';
import { counted, formatCount } from '../../terminal/format.ts';
import { neutralizeLine } from '../../terminal/text.ts';
import type { Plan } from '../plan/plan.ts';
import type { Diagnosis, ImportRequest } from '../request.ts';
import type { Rejection, RowReason, SourceRow } from '../row.ts';
import { alternatives, changesFor, type RejectedRows, together } from './remedies.ts';

const GROUPS_MAX = 50;
const LINES_MAX = 8;
const LIVE_LINES_MAX = 3;
const VALUES_MAX = 20;
const VALUES_SHOWN_MAX = 4;
const MESSAGE_CHARACTERS_MAX = 300;
const VALUE_CHARACTERS_MAX = 60;
const EXISTING_ID = /: [\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Collects the reasons of one run in bounded memory. */
export class RejectionReasons {
  readonly #groups = new Map<string, RejectedRows>();
  #rows = 0;
  #othersRows = 0;

  clear(): void {
    this.#groups.clear();
    this.#rows = 0;
    this.#othersRows = 0;
  }

  /** Adds a rejected row; without a plan, rows are known by their IDs. */
  take(row: SourceRow, rejection: Rejection, plan: Plan | null): void {
    this.#rows += 1;
    for (const reason of rejection.reasons ?? [rejection]) {
      const group = this.#groupOf(row, reason, plan);
      if (group === undefined) {
        this.#othersRows += 1;
        continue;
      }
      group.rows += 1;
      const value = row.entries.find(([header]) => header === group.header)?.[1];
      if (typeof value === 'string' || typeof value === 'number') addValue(group, String(value).trim());
    }
  }

  #groupOf(row: SourceRow, reason: RowReason, plan: Plan | null): RejectedRows | undefined {
    const key = `${reason.path}\n${reason.code}\n${reason.message}`
      .replace(/"[^"]*"/g, '""')
      .replace(/[0-9a-f]{8}-[0-9a-f-]{27}|\d[\d.,]*/g, '0');
    const known = this.#groups.get(key);
    if (known !== undefined || this.#groups.size >= GROUPS_MAX) return known;
    const header = plan === null ? 'id' : headerOf(row, reason, plan);
    const isOfIds = plan === null;
    const group = {
      ...{ reason, rows: 0, firstLine: row.line, header, isOfIds },
      values: new Map(),
      hasMore: false,
    };
    this.#groups.set(key, group);
    return group;
  }

  /** What the added rows have in common; `accepted` is the number of other rows. */
  diagnosis(request: ImportRequest, plan: Plan, isNothingIn: boolean): Diagnosis {
    const groups = this.#sorted();
    const mended = groups.map((group) => changesFor(group, request, plan));
    const changes = together(mended.flatMap((one) => one.changes ?? []));
    const isStrange = (group: RejectedRows): boolean =>
      isNothingIn && this.#rows > 1 && group.rows === this.#rows && isOfColumn(group);
    return {
      lines: this.lines,
      ...{ isNothingIn, changes },
      orElse: alternatives(mended),
      isWhole: this.#othersRows === 0 && mended.every((one) => one.changes !== undefined),
      isMissing: groups.some(
        ({ reason: { code } }, at) => code === 'RESOURCE_NOT_FOUND' && mended[at]?.changes === undefined,
      ),
      strangeColumns: groups.flatMap((group) =>
        isStrange(group) && group.header !== null ? [group.header] : [],
      ),
    };
  }

  /** The reasons in words, one line each, the most frequent first. */
  get lines(): string[] {
    const groups = this.#sorted();
    const lines = groups.slice(0, LINES_MAX).map(inWords);
    const more = groups.length - lines.length;
    if (more === 0 && this.#othersRows === 0) return lines;
    const number = this.#othersRows > 0 ? `more than ${formatCount(more)}` : formatCount(more);
    return [...lines, `  … and ${number} other ${more === 1 ? 'reason' : 'reasons'}`];
  }

  /** The most frequent reasons, short enough to be read while more rows are sent. */
  get shortLines(): string[] {
    return this.#sorted()
      .slice(0, LIVE_LINES_MAX)
      .map(({ rows, reason: { path, message } }) => {
        const [brief = message] = message.split(/; | \(/);
        const where = path === '' || message.startsWith(`${path}:`) ? '' : `${path}: `;
        return neutralizeLine(`  ${counted(rows, 'row')}: ${where}${clip(brief, MESSAGE_CHARACTERS_MAX)}`);
      });
  }

  #sorted(): RejectedRows[] {
    return [...this.#groups.values()].sort((one, other) => other.rows - one.rows);
  }
}

function addValue(group: RejectedRows, value: string): void {
  const known = group.values.get(value);
  if (known === undefined && group.values.size >= VALUES_MAX) group.hasMore = true;
  else group.values.set(value, (known ?? 0) + 1);
}

/** The column of a reason, if exactly one column of the row fills the field. */
function headerOf(row: SourceRow, { path }: RowReason, { columns }: Plan): string | null {
  const [field = ''] = path.split('.');
  const fits = (header: string): boolean => {
    const destination = columns.get(header)?.destination;
    if (destination?.kind === 'lookup') return destination.lookup === path || destination.field === path;
    if (destination?.kind === 'field') return destination.field === field;
    if (destination?.kind === 'status') return path === 'status';
    if (destination?.kind === 'external ID') return field === 'external_id';
    return destination?.kind === 'custom' && `custom.${destination.key}` === path;
  };
  const [header, second] = row.entries.flatMap(([name, value]) => (fits(name) && value !== '' ? [name] : []));
  return second === undefined ? (header ?? null) : null;
}

/** Whether the values of a column are invalid, rather than missing or duplicate records. */
function isOfColumn({ reason, header }: RejectedRows): boolean {
  const { code, remedy } = reason;
  const isMended = remedy !== undefined && Object.values(remedy).some((one) => one.length !== 0);
  return (
    header !== null && !isMended && code.startsWith('VALIDATION') && code !== 'VALIDATION_REQUIRED_FIELD'
  );
}

function inWords(group: RejectedRows): string {
  const { reason, rows, firstLine, values, hasMore, isOfIds } = group;
  const { path, code } = reason;
  // Each row has its own record in the way.
  const message = rows === 1 ? reason.message : reason.message.replace(EXISTING_ID, '');
  const text = `${path === '' || message.startsWith(`${path}:`) ? '' : `${path}: `}${message}`;
  const short = `${clip(text, MESSAGE_CHARACTERS_MAX)} (${code})`;
  if (isOfIds) return withIds(group, short);
  if (rows === 1) return `  line ${firstLine}: ${short}`;
  const others = values.size > 1 ? `; ${valuesInWords(values, hasMore)}` : '';
  return `  ${formatCount(rows)} rows, first in line ${firstLine}: ${short}${others}`;
}

function withIds({ rows, firstLine, values, hasMore }: RejectedRows, short: string): string {
  const ids = [...values.keys()].slice(0, VALUES_SHOWN_MAX).map((id) => clip(id, VALUE_CHARACTERS_MAX));
  if (rows === 1) return `  line ${[firstLine, ...ids].join(', ')}: ${short}`;
  const more = values.size - ids.length;
  const others = hasMore ? ', and many more' : more > 0 ? `, and ${formatCount(more)} more` : '';
  return `  ${formatCount(rows)} rows, first in line ${firstLine}: ${short}; ${ids.join(', ')}${others}`;
}

function valuesInWords(values: ReadonlyMap<string, number>, hasMore: boolean): string {
  const shown = [...values].sort(([, one], [, other]) => other - one).slice(0, VALUES_SHOWN_MAX);
  const words = shown.map(
    ([value, rows]) => `"${clip(value, VALUE_CHARACTERS_MAX)}" (${counted(rows, 'row')})`,
  );
  const more = values.size - shown.length;
  if (hasMore) return `${words.join(', ')}, and many more`;
  return more === 0 ? words.join(', ') : `${words.join(', ')}, and ${formatCount(more)} more`;
}
