// Every metric family: its name, its help text, and how the values of several threads are combined.

export interface Family<Label extends string = string> {
  type: 'counter' | 'gauge' | 'histogram';
  help: string;
  labels: readonly Label[];
  /** How the values of several threads are combined. */
  across: 'sum' | 'max' | 'first';
}

function familyOf(type: Family['type']) {
  return <Label extends string = never>(
    help: string,
    labels: readonly Label[] = [],
    across: Family['across'] = 'sum',
  ): Family<Label> => ({ type, help, labels, across });
}

const counter = familyOf('counter');
const gauge = familyOf('gauge');
const histogram = familyOf('histogram');

/** Labels take values from fixed sets: never an organization, a key or a path chosen by a client. */
export const FAMILIES = {
  crm_build_info: gauge('Always 1; labels: version and commit of crm, and database engine.', [
    'version',
    'commit',
    'engine',
  ]),
  crm_ready: gauge(
    '1 if /readyz returns 200, which means that the database can be read and written; otherwise 0.',
  ),
  crm_reader_threads: gauge('Threads that answer requests, in addition to the thread that writes.'),
  crm_http_requests_total: counter('API requests answered.', ['api', 'method', 'route', 'status']),
  crm_http_request_duration_seconds: histogram(
    'Time from receiving the request head to sending the response, including the time the body takes to arrive, without the time that it was held open for changes.',
    ['method', 'route'],
  ),
  crm_http_requests_in_flight: gauge('Requests in progress.'),
  crm_limit_refusals_total: counter(
    'Requests rejected by a limit (429) or by a quota of records or bytes (403).',
    ['limit'],
  ),
  crm_rate_limit_requests_per_minute: gauge(
    'Maximum requests per minute for a key or an organization.',
    ['limit'],
    'first',
  ),
  crm_rate_limit_used_ratio: gauge(
    'Fraction of the rate limit that the busiest key or organization has used in the current minute.',
    ['limit'],
    'max',
  ),
  crm_idempotent_replays_total: counter(
    'Requests answered with the response stored for their Idempotency-Key.',
  ),
  crm_stored_answer_bytes: gauge('Bytes of responses stored for requests with an Idempotency-Key.'),
  crm_stored_answers_used_ratio: gauge(
    'Fraction of the limit on stored responses that the organization with the highest usage has used.',
  ),
  crm_changes_kept: gauge('Changes of records and links that the log contains.'),
  crm_search_pending_records: gauge('Writes of records that the search index does not have yet.'),
  crm_backfill_organizations: gauge(
    'Organizations whose search index or timelines are being built, as after an upgrade; part is search or timeline.',
    ['part'],
  ),
  crm_backfill_records: gauge('Records that these builds read, as far as they are counted.', ['part']),
  crm_backfill_read_records: gauge('Records that these builds have read so far.', ['part']),
  crm_webhooks: gauge(
    'Webhooks; state is enabled, off (disabled by a client) or disabled (by the server or with its key).',
    ['state'],
  ),
  crm_webhook_attempts_total: counter('Requests sent to webhooks, by outcome.', ['outcome']),
  crm_webhook_requests_in_flight: gauge('Requests to webhooks in progress.'),
  crm_webhook_given_up_total: counter('Changes that were not delivered to a webhook after ten attempts.'),
  crm_webhook_pending_changes: gauge('Changes that enabled webhooks have not looked at or delivered yet.'),
  crm_webhook_lag_seconds: gauge(
    'Age of the oldest change that an enabled webhook has not looked at or delivered yet.',
  ),
  // Every thread reports these shared counts.
  crm_request_body_bytes: gauge('Bytes of request bodies in progress.', [], 'first'),
  crm_request_body_limit_bytes: gauge('Maximum bytes of request bodies in progress.', [], 'first'),
  crm_request_bodies_waiting: gauge('Requests whose body waits for room in the budget.'),
  crm_answer_bytes: gauge('Bytes of responses larger than 64 KiB in progress.', [], 'first'),
  crm_answer_limit_bytes: gauge('Maximum bytes of such responses in progress.', [], 'first'),
  crm_answers_waiting: gauge('Requests whose response waits for room in the budget.'),
  crm_change_waits_held: gauge('Requests held open until there are changes (wait).', [], 'first'),
  crm_change_streams_open: gauge('Open streams of changes.', [], 'first'),
  crm_batch_items_total: counter('Batch items, such as those of imports, by result.', ['route', 'result']),
  crm_write_queue_jobs: gauge('Writes waiting for a transaction.'),
  crm_write_group_jobs: histogram('Number of writes that shared one transaction and its commit.'),
  crm_commits_total: counter('Transactions committed.'),
  crm_commit_duration_seconds: histogram(
    'Time until a commit was durable; for a database file, this includes the fsync of its log.',
  ),
  crm_write_failures_total: counter(
    'Transactions that failed as a whole, for example because of a full disk, a lost connection or a lock held too long.',
  ),
  crm_database_size_bytes: gauge('Size of the database.'),
  crm_database_disk_free_bytes: gauge('Free space on the disk of the database file.'),
  crm_sqlite_wal_bytes: gauge('Size of the write-ahead log.'),
  crm_sqlite_checkpoint_duration_seconds: histogram(
    'Time to move the write-ahead log into the database file.',
  ),
  crm_postgres_pool_size: gauge('Maximum connections of a pool.', ['pool']),
  crm_postgres_pool_open: gauge('Open connections of a pool.', ['pool']),
  crm_postgres_pool_busy: gauge('Connections of a pool in use.', ['pool']),
  crm_postgres_pool_waiting: gauge('Statements or transactions waiting for a connection of a pool.', [
    'pool',
  ]),
  crm_postgres_connects_total: counter(
    'Connections opened, both the initial ones and those that replace lost connections.',
    ['pool'],
  ),
  crm_postgres_connect_failures_total: counter('Connections that could not be opened.', ['pool']),
  crm_backup_last_success_timestamp_seconds: gauge(
    'When the database file was last backed up, by the schedule or by "crm backup"; 0 if never.',
  ),
  crm_backup_interval_seconds: gauge('Interval of scheduled backups (serve --backup-every).'),
  crm_backups_total: counter('Scheduled backups since the server started, by result.', ['result']),
  crm_backup_last_duration_seconds: gauge('Duration of the last scheduled backup.'),
  crm_backup_last_size_bytes: gauge('Size of the last scheduled backup.'),
  crm_event_loop_delay_seconds: histogram(
    'How late each thread runs its due timers, sampled ten times per second.',
  ),
} satisfies Record<string, Family>;

export type FamilyName = keyof typeof FAMILIES;

/** The labels of a family, each with its value. */
export type LabelsOf<N extends FamilyName> = Record<(typeof FAMILIES)[N]['labels'][number], string>;
