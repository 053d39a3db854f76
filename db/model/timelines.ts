// Which records have a timeline, and what is on it.

/** The resources whose records have a timeline. */
export const TIMELINE_RESOURCES = ['contacts', 'companies', 'deals'] as const;
export type TimelineResource = (typeof TIMELINE_RESOURCES)[number];

/** Whether records of a resource have a timeline. */
export function hasTimeline(name: string): name is TimelineResource {
  return (TIMELINE_RESOURCES as readonly string[]).includes(name);
}

/** What an entry of a timeline is about; rows contain the index, so the order is fixed. */
export const TIMELINE_KINDS = [
  'interaction',
  'meeting',
  'booking',
  'note',
  'task',
  'deal',
  'stage',
  'change',
] as const;
export type TimelineKind = (typeof TIMELINE_KINDS)[number];

/** What entries in tables are about; updates show from the log of changes. */
export type EntryKind = Exclude<TimelineKind, 'change'>;
