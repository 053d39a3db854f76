// What the companies of the demo data do, and what they buy.
import lists from './industries.json' with { type: 'json' };

export interface Industry {
  readonly name: string;
  /** Words that end company names. */
  readonly trades: readonly string[];
  /** Places that can be monitored, plural. */
  readonly sites: readonly string[];
  /** Typical headcount; a company has between a fifth and five times as many. */
  readonly headcount: number;
  /** Yearly revenue per head, in EUR. */
  readonly revenuePerHead: number;
  /** Job titles in this industry only. */
  readonly titles: readonly string[];
}

/** The industries. */
export const INDUSTRIES: readonly Industry[] = lists.industries;

/** Job titles in every industry; the first are the most likely decision makers. */
export const TITLES: readonly string[] = lists.titles;

export interface Offer {
  /** Name of a deal; `{n}` is a number of `{sites}`. */
  readonly deal: string;
  /** Its name in conversation. */
  readonly spoken: string;
  /** Price in EUR: fixed part, and part per site. */
  readonly base: number;
  readonly perSite: number;
}

/** What the demo organization, a maker of monitoring instruments, sells. */
export const OFFERS: readonly Offer[] = lists.offers;
