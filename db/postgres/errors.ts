// Problems with a PostgreSQL server, in words for the operator and with next steps.
import { DatabaseError } from '../database-error.ts';
import type { PostgresAddress } from './address.ts';
import { CONNECT_SECONDS_MAX, SETTINGS } from './settings.ts';

/** A database that cannot be reached, or that the user cannot use. */
export class PostgresError extends DatabaseError {}

const WRITE_REFUSED = '25006';

/** PostgreSQL's code of an error (SQLSTATE), or ''. */
export function sqlState(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('errno' in error)) return '';
  return /^[0-9A-Z]{5}$/.test(String(error.errno)) ? String(error.errno) : '';
}

/** Whether the database rejected a write because it is read-only. */
export function isWriteRefused(error: unknown): boolean {
  return sqlState(error) === WRITE_REFUSED;
}

/** Whether a prepared statement failed because its tables have changed; another session can run it. */
export function isOutdated(error: unknown): boolean {
  return sqlState(error) === '0A000';
}

// Broken connections, a read-only server, transactions that blocked each other twice, exhausted resources, servers that
// stop or start, and timeouts.
const UNAVAILABLE = /^(?:08|53|57|58|25006|25P03|40001|40P01|55P03)/;
const BROKEN = /^ERR_POSTGRES_(?:CONNECTION|IDLE_TIMEOUT|LIFETIME|UNEXPECTED_MESSAGE|INVALID_MESSAGE)|^ECONN/;

/** Whether the database cannot be reached or written right now; the statement could have taken effect. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof PostgresError || UNAVAILABLE.test(sqlState(error)) || BROKEN.test(codeOf(error));
}

/** Whether a statement's transaction is gone after this error. */
export function endsTransaction(error: unknown): boolean {
  return isUnreachable(error) && !/^40/.test(sqlState(error));
}

interface Advice {
  /** The error codes, of PostgreSQL or of the client. */
  codes: RegExp;
  /** Continues "The database URL"; `said` is the server's message. */
  reason(address: PostgresAddress, said: string): string;
  nextSteps(address: PostgresAddress, said: string): string[];
}

const ADVICE: readonly Advice[] = [
  {
    codes: /^28P01$/,
    reason: ({ user, password }) =>
      password === null ? `requires a password for ${user}` : `rejected the password of ${user}`,
    nextSteps: ({ host, port, database, user }) => [
      'set PGPASSWORD, or add this line to ~/.pgpass, which only you may read (chmod 600):',
      `${host.startsWith('/') ? 'localhost' : host}:${port}:${database}:${user}:PASSWORD`,
    ],
  },
  {
    codes: /^28000$/,
    reason: ({ user }, said) => `does not allow ${user} to connect (${said})`,
    nextSteps: () => [
      'check the user name, and the entries of pg_hba.conf for this user, this machine and TLS.',
    ],
  },
  {
    codes: /^3D000$/,
    reason: () => 'does not exist',
    nextSteps: ({ host, port, database, user }) => [
      `create it: createdb -h ${host} -p ${port} -U ${user} -E UTF8 -T template0 ${database}`,
    ],
  },
  {
    codes: /^53300$/,
    reason: (_, said) => `does not have a free connection (${said})`,
    nextSteps: () => [
      "increase the server's max_connections,",
      'or let each crm use fewer: add ?readers=2&writers=2 to the database URL.',
    ],
  },
  {
    codes: /^57P0[123]$/,
    reason: (_, said) => `is not available (${said})`,
    nextSteps: () => ['wait until the server is running, then try again.'],
  },
  {
    codes: /^(?:53100|58030)$/,
    reason: () => 'has no space left on its disk, or its disk failed',
    nextSteps: () => ["check the server's log, free some space, then try again."],
  },
  {
    codes: /^42501$/,
    reason: ({ user }, said) => `does not give ${user} the permissions that crm needs (${said})`,
    nextSteps: ({ database, user }, said) => {
      const ownership = `or make the user its owner: ALTER DATABASE "${database}" OWNER TO "${user}";`;
      if (/denied for database/.test(said))
        return [`run as its owner: GRANT CONNECT ON DATABASE "${database}" TO "${user}";`, ownership];
      if (/schema/.test(said))
        return [`run as its owner: GRANT CREATE, USAGE ON SCHEMA public TO "${user}";`, ownership];
      return [`run as the owner of the tables: GRANT ALL ON ALL TABLES IN SCHEMA public TO "${user}";`];
    },
  },
  {
    // The last two: a pooler mixed the statements of different connections.
    codes: /^(?:08P01|42P05|26000)$/,
    reason: (_, said) => pooled(said),
    nextSteps: () => poolerSteps(),
  },
  {
    codes: /^ERR_POSTGRES_CONNECTION_TIMEOUT$/,
    reason: () => `did not respond within ${CONNECT_SECONDS_MAX} s`,
    nextSteps: () => [
      'check the host and port, that it is a PostgreSQL server, and that no firewall blocks it.',
    ],
  },
  {
    codes: /^ERR_POSTGRES_TLS_NOT_AVAILABLE$/,
    reason: ({ sslMode }) => `does not offer TLS, which sslmode=${sslMode} requires`,
    nextSteps: () => [
      'turn it on at the server (ssl = on); if the network stays on one machine, add ?sslmode=disable instead.',
    ],
  },
  {
    codes: /^(?:ERR_TLS|ERR_SSL|ERR_BORINGSSL|ERR_OSSL|CERT_|UNABLE_TO_|DEPTH_|SELF_SIGNED|HOSTNAME_)/,
    reason: (_, said) => `has a certificate that is not trusted (${said})`,
    nextSteps: () => [
      'specify the CA certificate: add ?sslrootcert=FILE to the database URL.',
      'With sslmode=verify-full, the certificate must also contain the host name.',
    ],
  },
  {
    codes: /^(?:40P01|55P03|57014)$/,
    reason: (_, said) => `is busy (${said})`,
    nextSteps: () => ['check in pg_stat_activity what it is doing, then try again.'],
  },
  {
    codes: /^ERR_POSTGRES_CONNECTION_CLOSED$/,
    reason: () => 'has closed the connection',
    nextSteps: () => ["check the server's log, then try again."],
  },
  {
    codes: /^ERR_POSTGRES_(?:CONNECTION_FAILED|UNEXPECTED_MESSAGE|INVALID_MESSAGE)/,
    reason: ({ host, port }) =>
      `cannot be reached: what answers at ${host}:${port} is not PostgreSQL, or is shutting down`,
    nextSteps: () => ['check the host and port.'],
  },
];

function pooled(said: string): string {
  return `is behind a pooler that does not keep the session state crm needs (${said})`;
}

function poolerSteps(): string[] {
  const names = new Set(Object.values(SETTINGS).flatMap((settings) => Object.keys(settings)));
  return [
    'connect to the server directly, or use PgBouncer with session pooling (pool_mode = session) or, from version 1.21, ' +
      'with max_prepared_statements = 1000.',
    `in both cases PgBouncer needs this line: ignore_startup_parameters = ${[...names].join(',')}`,
  ];
}

/** Explains to the operator why a connection cannot be opened. */
export async function explainOpening(address: PostgresAddress, error: unknown): Promise<PostgresError> {
  if (error instanceof PostgresError) return error;
  const explained = explainStatement(address, error);
  if (explained instanceof PostgresError) return explained;
  if (codeOf(error) === 'ERR_POSTGRES_CONNECTION_REFUSED') return explainRefusal(address, error);
  return postgresError(address, `cannot be reached (${saidBy(error)})`, ["check the server's log."], error);
}

/** Explains a database error to the operator; other errors are returned unchanged. */
export function explainStatement(address: PostgresAddress, error: unknown): unknown {
  const code = sqlState(error) || codeOf(error);
  if (code === WRITE_REFUSED) return readOnlyServerError(address, error);
  const advice = ADVICE.find(({ codes }) => codes.test(code));
  if (advice === undefined) return error;
  const said = saidBy(error);
  return postgresError(address, advice.reason(address, said), advice.nextSteps(address, said), error);
}

async function explainRefusal(address: PostgresAddress, error: unknown): Promise<PostgresError> {
  const { host, port } = address;
  if (host.startsWith('/')) {
    const nextSteps = ['start the server, or specify the folder of its socket: ?host=FOLDER.'];
    return postgresError(
      address,
      `cannot be reached: there is no socket ${host}/.s.PGSQL.${port}`,
      nextSteps,
      error,
    );
  }
  const { lookup } = await import('node:dns/promises');
  const isKnown = await lookup(host).then(
    () => true,
    () => false,
  );
  if (!isKnown) {
    return postgresError(
      address,
      `cannot be reached: the host ${host} is unknown`,
      ['check the host name.'],
      error,
    );
  }
  const nextSteps = [
    'start the server, or check the host and port (listen_addresses and port in postgresql.conf).',
  ];
  return postgresError(address, `cannot be reached: no server listens on ${host}:${port}`, nextSteps, error);
}

/** An error of the database at that URL; `reason` continues its name. */
export function postgresError(
  { shown }: PostgresAddress,
  reason: string,
  nextSteps: readonly string[],
  cause?: unknown,
): PostgresError {
  return new PostgresError(`The database ${shown} ${reason}.`, nextSteps, cause);
}

/** The error of a read-only database. */
export function readOnlyServerError(address: PostgresAddress, cause?: unknown): PostgresError {
  const reason = 'is read-only: its server is a standby, or is set to read-only';
  return postgresError(address, reason, ['use the primary server in the database URL.'], cause);
}

/** The error of a database whose pooler mixes the statements of different connections. */
export function poolerError(address: PostgresAddress, said: string): PostgresError {
  return postgresError(address, pooled(said), poolerSteps());
}

/** The error of a database that does not answer. */
export function silentServerError(address: PostgresAddress, ms: number): PostgresError {
  return postgresError(address, `has not responded for ${ms / 1_000} s`, [
    'check that the server is running and can be reached.',
  ]);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function saidBy(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
