// Countries and cities of the demo data; phone numbers are from ranges that regulators reserve for fiction.
import type { CultureName } from './names.ts';
import countries from './places.json' with { type: 'json' };

/** The sound of company names. */
export type NameStyle = 'english' | 'northern' | 'romance' | 'slavic' | 'eastern' | 'southern';

export interface City {
  readonly name: string;
  readonly state: string | null;
  /** A pattern in which `#` is any digit; null if no range is reserved for fiction. */
  readonly phone: string | null;
}

export interface Country {
  readonly name: string;
  /** How often it is chosen, relative to the others. */
  readonly weight: number;
  readonly currency: string;
  readonly timezone: string;
  readonly style: NameStyle;
  /** Legal forms that end company names. */
  readonly forms: readonly string[];
  /** Whose names its people have, by weight. */
  readonly cultures: Readonly<Partial<Record<CultureName, number>>>;
  readonly cities: readonly City[];
}

/** The countries, each chosen in proportion to its weight. */
export const COUNTRIES = countries as readonly Country[];
