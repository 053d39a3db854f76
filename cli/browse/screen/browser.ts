// What the views of the browser share: what each remembers while others are over it, and what they can do.
import type { Resource } from '../../../db/model/resource.ts';
import type { ScrolledList } from '../scrolled-list.ts';
import type { BrowserSource, Card, ShownQuery } from '../source.ts';

/** What a view remembers while others are over it. */
export type View =
  | { kind: 'menu'; selected: number }
  | { kind: 'list'; resource: Resource; query: ShownQuery; listing: ScrolledList; selected: number }
  | { kind: 'card'; resource: Resource; id: string; card: Card | null; selected: number };

/** What the views can do. */
export interface Browser {
  source: BrowserSource;
  /** The size within title, status and keys. */
  columns: number;
  height: number;
  hasColor: boolean;
  openList(resource: Resource, query?: ShownQuery): void;
  openCard(resource: Resource, id: string): void;
  back(): void;
  quit(): void;
  /** Runs work and shows its error, if it has one, below the view; redraws afterwards. */
  run(work: () => Promise<void> | void): void;
  redraw(): void;
}
