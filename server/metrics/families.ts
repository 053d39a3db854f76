// Every family of metrics: its name, what it tells, and how what several threads tell becomes one answer.

export interface Family {
  type: 'counter' | 'gauge' | 'histogram';
  help: string;
  labels: readonly string[];
  /** How values of several threads become one. */
  across: 'sum' | 'max' | 'first';
}

const counter = { type: 'counter', labels: [], across: 'sum' } as const;
const gauge = { type: 'gauge', labels: [], across: 'sum' } as const;
const histogram = { type: 'histogram', labels: [], across: 'sum' } as const;

/** Values of labels are of fixed sets: no organization, no key, no path that a client made up. */
export const FAMILIES = {
  crm_build_info: {
    ...gauge,
    help: 'Always 1: version and commit of this crm, and the engine of its database.',
    labels: ['version', 'commit', 'engine'],
  },
  crm_ready: { ...gauge, help: '1 where /readyz answers 200: the database can be read and written.' },
  crm_reader_threads: { ...gauge, help: 'Threads that answer requests beside the one that writes.' },
  crm_http_requests_total: {
    ...counter,
    help: 'Requests to the interface that were answered.',
    labels: ['api', 'method', 'route', 'status'],
  },
  crm_http_request_duration_seconds: {
    ...histogram,
    help: 'Time from the head of a request to its answer, that of the body on its way included.',
    labels: ['method', 'route'],
  },
  crm_http_requests_in_flight: { ...gauge, help: 'Requests that are being answered.' },
  crm_limit_refusals_total: {
    ...counter,
    help: 'Requests refused by a limit (429), or by a quota of records or bytes (403).',
    labels: ['limit'],
  },
  crm_rate_limit_requests_per_minute: {
    ...gauge,
    help: 'Requests a minute that a key, or an organization, may send.',
    labels: ['limit'],
    across: 'first',
  },
  crm_rate_limit_used_ratio: {
    ...gauge,
    help: 'The part of its limit that the busiest key, or organization, has used up in this minute.',
    labels: ['limit'],
    across: 'max',
  },
  crm_idempotent_replays_total: {
    ...counter,
    help: 'Requests that got the answer which was stored under their Idempotency-Key.',
  },
  crm_stored_answer_bytes: {
    ...gauge,
    help: 'Bytes of answers that are kept so that requests can be repeated with their Idempotency-Key.',
  },
  crm_stored_answers_used_ratio: {
    ...gauge,
    help: 'The part of its limit on stored answers that the fullest organization has used up.',
  },
  // What threads count in common, each of them tells.
  crm_request_body_bytes: { ...gauge, help: 'Bytes of request bodies that are under way.', across: 'first' },
  crm_request_body_limit_bytes: {
    ...gauge,
    help: 'Bytes of request bodies that may be under way.',
    across: 'first',
  },
  crm_request_bodies_waiting: { ...gauge, help: 'Requests whose body waits until there is room for it.' },
  crm_answer_bytes: {
    ...gauge,
    help: 'Bytes of answers of over 64 KiB that are under way.',
    across: 'first',
  },
  crm_answer_limit_bytes: { ...gauge, help: 'Bytes of such answers that may be under way.', across: 'first' },
  crm_answers_waiting: { ...gauge, help: 'Requests whose answer waits until there is room for it.' },
  crm_batch_items_total: {
    ...counter,
    help: 'Items of batches, as imports send them, by what became of them.',
    labels: ['route', 'result'],
  },
  crm_write_queue_jobs: { ...gauge, help: 'Writes that wait for the transaction that will carry them out.' },
  crm_write_group_jobs: { ...histogram, help: 'Writes that shared a transaction and its commit.' },
  crm_commits_total: { ...counter, help: 'Transactions that were committed.' },
  crm_commit_duration_seconds: {
    ...histogram,
    help: 'Time that a commit took until it was durable: of a file, the fsync of its log.',
  },
  crm_write_failures_total: {
    ...counter,
    help: 'Transactions that failed as a whole: a full disk, a lost connection, a lock held too long.',
  },
  crm_database_size_bytes: { ...gauge, help: 'Size of the database.' },
  crm_database_disk_free_bytes: { ...gauge, help: 'What is left on the disk of the database file.' },
  crm_sqlite_wal_bytes: { ...gauge, help: 'Size of the write-ahead log.' },
  crm_sqlite_checkpoint_duration_seconds: {
    ...histogram,
    help: 'Time that it took to move the write-ahead log into the database file.',
  },
  crm_postgres_pool_size: {
    ...gauge,
    help: 'Connections that a pool may have.',
    labels: ['pool'],
  },
  crm_postgres_pool_open: { ...gauge, help: 'Connections that a pool has open.', labels: ['pool'] },
  crm_postgres_pool_busy: { ...gauge, help: 'Connections of a pool that are in use.', labels: ['pool'] },
  crm_postgres_pool_waiting: {
    ...gauge,
    help: 'Statements, or transactions, that wait for a connection of a pool.',
    labels: ['pool'],
  },
  crm_postgres_connects_total: {
    ...counter,
    help: 'Connections opened, the first of each included: further ones follow a loss.',
    labels: ['pool'],
  },
  crm_postgres_connect_failures_total: {
    ...counter,
    help: 'Connections that could not be opened.',
    labels: ['pool'],
  },
  crm_backup_last_success_timestamp_seconds: {
    ...gauge,
    help: 'When the database file was last backed up, by the schedule or by "crm backup"; 0 for never.',
  },
  crm_backup_interval_seconds: { ...gauge, help: 'How often a backup is made (serve --backup-every).' },
  crm_backups_total: {
    ...counter,
    help: 'Backups of the schedule since the server started, by how they ended.',
    labels: ['result'],
  },
  crm_backup_last_duration_seconds: { ...gauge, help: 'Time that the last backup of the schedule took.' },
  crm_backup_last_size_bytes: { ...gauge, help: 'Size of the last backup of the schedule.' },
  crm_event_loop_delay_seconds: {
    ...histogram,
    help: 'How much too late each thread came to what was due, looked at ten times a second.',
  },
} as const satisfies Record<string, Family>;

export type FamilyName = keyof typeof FAMILIES;

/** The labels of a family, each with its value. */
export type LabelsOf<N extends FamilyName> = Record<(typeof FAMILIES)[N]['labels'][number], string>;
