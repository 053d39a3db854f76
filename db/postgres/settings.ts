// Settings that each connection makes when it is opened.

export const CONNECT_SECONDS_MAX = 5;

// All timeouts are below the ten seconds after which a client gets an error.
const COMMON = {
  application_name: 'crm',
  lock_timeout: '6s',
  statement_timeout: '7s',
  idle_in_transaction_session_timeout: '5s',
};

/** By purpose of the connection. */
export const SETTINGS = {
  reading: { ...COMMON, default_transaction_read_only: 'on' },
  writing: COMMON,
  // Counts of a minute that a crash loses are outdated by the time the database is back.
  counting: { ...COMMON, synchronous_commit: 'off' },
  // For notifications.
  listening: COMMON,
  // A schema change can take long. The lock timeout is a unique value, which shows whether it arrived.
  migrating: { ...COMMON, statement_timeout: '0', lock_timeout: '5999ms' },
  // Analyzing a large table can take long too.
  analyzing: { ...COMMON, statement_timeout: '0' },
  // Long reads, with pauses while the rows are written elsewhere.
  copying: {
    ...COMMON,
    default_transaction_read_only: 'on',
    statement_timeout: '0',
    idle_in_transaction_session_timeout: '0',
  },
} as const satisfies Record<string, Record<string, string>>;

export type ConnectionPurpose = keyof typeof SETTINGS;
