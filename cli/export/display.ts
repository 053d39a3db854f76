// The progress of an export: records by time of creation, and links by number.
import type { Data } from '../../db/model/json.ts';
import type { Client } from '../api/client.ts';
import type { ListRequest } from '../api/list-request.ts';
import type { Page } from '../api/pages.ts';
import { isRefusal } from '../errors.ts';
import { Display } from '../terminal/progress.ts';
import type { ProgressState } from '../terminal/progress-text.ts';

/** Shows one part of the export at a time. */
export class ExportDisplay extends Display {
  #latest: ProgressState = { done: 0 };
  #recordsBefore = 0;

  /** Records fetched so far. */
  get records(): number {
    return this.#recordsBefore + this.#latest.done;
  }

  /** Updates how many records are fetched. */
  update(state: ProgressState): void {
    this.#latest = state;
    this.show(state);
  }

  /** Adds the records of a finished part to the count. */
  settle(records: number): void {
    this.#recordsBefore += records;
    this.#latest = { done: 0 };
  }

  /** Follows the pages of a list; `done` counts those of earlier runs too. */
  followRecords(client: Client, list: ListRequest): (page: Page, done: number) => Promise<void> {
    let span: Span | null | undefined;
    return async (page, done) => {
      this.update({ ...this.#latest, done });
      // A single page arrives before a display could appear.
      const isWanted = page.nextCursor !== null && !this.isQuiet;
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

/** The rate limit per minute, from a response. */
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
    // The export works without this; if the server fails, the next page reports it.
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
