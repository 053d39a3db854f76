// What an export shows on its way: records by their place in time, links by their number, and waits.
import type { Data } from '../../db/model/json.ts';
import type { Client } from '../api/client.ts';
import { noteWait } from '../api/connect.ts';
import type { ListRequest } from '../api/list-request.ts';
import type { Page } from '../api/pages.ts';
import { isRefusal } from '../errors.ts';
import { type Progress, type ProgressOptions, startProgress } from '../terminal/progress.ts';
import type { ProgressState } from '../terminal/progress-text.ts';
import { note } from '../terminal/streams.ts';
import type { Wait } from '../terminal/wait-reasons.ts';

/** One display at a time, for one part of the export after the other. */
export class ExportDisplay {
  readonly #isQuiet: boolean;
  #progress: Progress | undefined;
  #latest: ProgressState = { done: 0 };
  #recordsBefore = 0;

  constructor(isQuiet: boolean) {
    this.#isQuiet = isQuiet;
  }

  /** Records fetched so far. */
  get records(): number {
    return this.#recordsBefore + this.#latest.done;
  }

  /** For the client's `onWait`. */
  readonly onWait = (wait: Wait): void => {
    if (this.#progress !== undefined) this.#progress.wait(wait);
    else if (!this.#isQuiet) noteWait(wait);
  };

  async start(options: ProgressOptions): Promise<void> {
    this.#progress ??= await startProgress({ ...options, quiet: this.#isQuiet });
  }

  /** Takes in how many records are fetched. */
  update(state: ProgressState): void {
    this.#latest = state;
    this.show(state);
  }

  /** Shows how far something else has come. */
  show(state: ProgressState): void {
    this.#progress?.update(state);
  }

  /** Ends a part with a line of its own. */
  async stop(finalLine: string): Promise<void> {
    if (this.#progress !== undefined) await this.#progress.stop(finalLine);
    else if (!this.#isQuiet) note(finalLine);
    this.#progress = undefined;
  }

  /** Takes the display away where the export breaks off. */
  async remove(): Promise<void> {
    await this.#progress?.stop();
    this.#progress = undefined;
  }

  /** Counts what a part has fetched for good. */
  settle(records: number): void {
    this.#recordsBefore += records;
    this.#latest = { done: 0 };
  }

  /** Follows the pages of a list; `done` counts those of earlier runs too. */
  followRecords(client: Client, list: ListRequest): (page: Page, done: number) => Promise<void> {
    let span: Span | null | undefined;
    return async (page, done) => {
      this.update({ ...this.#latest, done });
      // A single page is there before anything could be shown.
      const isWanted = page.nextCursor !== null && !this.#isQuiet;
      const isFirst = done === page.records.length;
      if (span === undefined && isWanted)
        span = await spanOf(client, list, isFirst ? page.records[0] : undefined);
      const share = span ? shareOf(span, page.records.at(-1)) : undefined;
      if (isWanted) {
        await this.start({
          ...{ label: `Exporting ${list.name}`, unit: 'records', total: null },
          startAt: done - page.records.length,
          ratePerMinuteMax: requestsPerMinute(page) * list.pageSizeMax,
          ...(share && { about: Math.round(done / share) }),
        });
      }
      this.update({ done, ...(share !== undefined && { share }) });
    };
  }
}

/** What the rate limit admits in a minute, as an answer tells it. */
export function requestsPerMinute({ response }: Pick<Page, 'response'>): number {
  return Number(response.headers.get('x-ratelimit-limit')) || Number.POSITIVE_INFINITY;
}

/** When the oldest and the newest record of a list were created, in Unix milliseconds. */
interface Span {
  oldest: number;
  newest: number;
}

async function spanOf(client: Client, list: ListRequest, first: Data | undefined): Promise<Span | null> {
  if (list.edge === undefined) return null;
  try {
    const oldest = createdAt(first ?? (await list.edge(client, 'asc')));
    const newest = createdAt(await list.edge(client, 'desc'));
    return oldest === undefined || newest === undefined || newest <= oldest ? null : { oldest, newest };
  } catch (error) {
    // The export itself does without; what keeps it from going on, its next page will tell.
    if (!isRefusal(error)) throw error;
    return null;
  }
}

function shareOf({ oldest, newest }: Span, latest: Data | undefined): number | undefined {
  const at = createdAt(latest);
  return at === undefined ? undefined : Math.min(1, Math.max(0, (at - oldest) / (newest - oldest)));
}

function createdAt(record: Data | undefined): number | undefined {
  const at = Date.parse(String(record?.created_at));
  return Number.isNaN(at) ? undefined : at;
}
