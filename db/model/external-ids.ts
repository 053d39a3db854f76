// External IDs: the IDs of records in other systems, at most one for each system, here called source.

/** The table of the external IDs of all resources. */
export const externalIds = {
  table: 'external_ids',
  parentColumn: 'record_id',
  childColumn: 'source',
  resourceColumn: 'resource',
  children: {},
} as const;
