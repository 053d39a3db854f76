// What each connection sets for itself as it is opened.

export const CONNECT_SECONDS_MAX = 5;

// The times are all below the ten seconds after which a client is told that the database cannot be reached.
const COMMON = {
  application_name: 'crm',
  lock_timeout: '6s',
  statement_timeout: '7s',
  idle_in_transaction_session_timeout: '5s',
};

/** By what a connection is for. */
export const SETTINGS = {
  reading: { ...COMMON, default_transaction_read_only: 'on' },
  writing: COMMON,
  // What a crash forgets of a minute's counts is of no use by the time the database is back.
  counting: { ...COMMON, synchronous_commit: 'off' },
  // A change of the schema may take its time. The time for a lock is one that nobody else sets: it tells that it got there.
  migrating: { ...COMMON, statement_timeout: '0', lock_timeout: '5999ms' },
  // So may a look at a large table.
  analyzing: { ...COMMON, statement_timeout: '0' },
  // Read at length, with pauses in which what was read is written elsewhere.
  copying: {
    ...COMMON,
    default_transaction_read_only: 'on',
    statement_timeout: '0',
    idle_in_transaction_session_timeout: '0',
  },
} as const satisfies Record<string, Record<string, string>>;

export type Purpose = keyof typeof SETTINGS;
