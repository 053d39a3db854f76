// What can be wrong with a PostgreSQL server, in words for the operator and with the next steps to take.
import { lookup } from 'node:dns/promises';
import { DatabaseError } from '../database-error.ts';
import type { PostgresAddress } from './address.ts';
import { CONNECT_SECONDS_MAX, SETTINGS } from './settings.ts';

/** A database that cannot be reached, or not be used by whoever asks. */
export class PostgresError extends DatabaseError {}

const WRITE_REFUSED = '25006';

/** PostgreSQL's code of an error (SQLSTATE), '' if it carries none. */
export function sqlState(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('errno' in error)) return '';
  return /^[0-9A-Z]{5}$/.test(String(error.errno)) ? String(error.errno) : '';
}

/** Whether the database took no write because it only reads. */
export function isWriteRefused(error: unknown): boolean {
  return sqlState(error) === WRITE_REFUSED;
}

/** Whether a statement was refused that is known from before a change of its tables; on another session it is not. */
export function isOutdated(error: unknown): boolean {
  return sqlState(error) === '0A000';
}

// Connections that broke, a server that only reads, transactions that were in each other's way twice, resources that are
// used up, servers that stop or start, and time that ran out.
const UNAVAILABLE = /^(?:08|53|57|58|25006|25P03|40001|40P01|55P03)/;
const BROKEN = /^ERR_POSTGRES_(?:CONNECTION|IDLE_TIMEOUT|LIFETIME|UNEXPECTED_MESSAGE|INVALID_MESSAGE)|^ECONN/;

/** Whether the database cannot be reached or written for now; what was to be done may have been done. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof PostgresError || UNAVAILABLE.test(sqlState(error)) || BROKEN.test(codeOf(error));
}

/** Whether after this error of a statement its transaction is gone. */
export function endsTransaction(error: unknown): boolean {
  return isUnreachable(error) && !/^40/.test(sqlState(error));
}

interface Advice {
  /** The codes, of PostgreSQL or of the client, that it is about. */
  codes: RegExp;
  /** Goes on from "The database ADDRESS"; `said` is what the server says. */
  reason(address: PostgresAddress, said: string): string;
  nextSteps(address: PostgresAddress, said: string): string[];
}

const ADVICE: readonly Advice[] = [
  {
    codes: /^28P01$/,
    reason: ({ user, password }) =>
      password === null ? `wants a password for ${user}` : `does not take the password of ${user}`,
    nextSteps: ({ host, port, database, user }) => [
      'give it in PGPASSWORD, or keep it in ~/.pgpass, which nobody else may read (chmod 600), in a line:',
      `${host.startsWith('/') ? 'localhost' : host}:${port}:${database}:${user}:PASSWORD`,
    ],
  },
  {
    codes: /^28000$/,
    reason: ({ user }, said) => `does not let ${user} in (${said})`,
    nextSteps: () => ['check the user, and what pg_hba.conf says of this user, this machine and TLS.'],
  },
  {
    codes: /^3D000$/,
    reason: () => 'does not exist',
    nextSteps: ({ host, port, database, user }) => [
      `make it: createdb -h ${host} -p ${port} -U ${user} -E UTF8 -T template0 ${database}`,
    ],
  },
  {
    codes: /^53300$/,
    reason: (_, said) => `has no connection left (${said})`,
    nextSteps: () => [
      "raise the server's max_connections,",
      'or have each crm take fewer: add ?readers=2&writers=2 to the address.',
    ],
  },
  {
    codes: /^57P0[123]$/,
    reason: (_, said) => `is not up (${said})`,
    nextSteps: () => ['wait until it is, then try again.'],
  },
  {
    codes: /^(?:53100|58030)$/,
    reason: () => 'has no space left on its disk, or its disk failed',
    nextSteps: () => ["look into the server's log, free some space there, then try again."],
  },
  {
    codes: /^42501$/,
    reason: ({ user }, said) => `denies ${user} what crm needs (${said})`,
    nextSteps: ({ database, user }, said) => {
      const ownership = `or make the user the owner: ALTER DATABASE "${database}" OWNER TO "${user}";`;
      if (/denied for database/.test(said))
        return [`as its owner run: GRANT CONNECT ON DATABASE "${database}" TO "${user}";`, ownership];
      if (/schema/.test(said))
        return [`as its owner run: GRANT CREATE, USAGE ON SCHEMA public TO "${user}";`, ownership];
      return [`as the owner of the tables run: GRANT ALL ON ALL TABLES IN SCHEMA public TO "${user}";`];
    },
  },
  {
    // The latter two: the statements of one connection were met by another's.
    codes: /^(?:08P01|42P05|26000)$/,
    reason: (_, said) => pooled(said),
    nextSteps: () => poolerSteps(),
  },
  {
    codes: /^ERR_POSTGRES_CONNECTION_TIMEOUT$/,
    reason: () => `does not answer: ${CONNECT_SECONDS_MAX} s have passed`,
    nextSteps: () => ['check host and port, and that no firewall stands between: is it a PostgreSQL server?'],
  },
  {
    codes: /^ERR_POSTGRES_TLS_NOT_AVAILABLE$/,
    reason: ({ sslMode }) => `offers no TLS, which sslmode=${sslMode} asks for`,
    nextSteps: () => [
      "turn it on at the server (ssl = on), or where the network is the machine's own add ?sslmode=disable.",
    ],
  },
  {
    codes: /^(?:ERR_TLS|ERR_SSL|ERR_BORINGSSL|ERR_OSSL|CERT_|UNABLE_TO_|DEPTH_|SELF_SIGNED|HOSTNAME_)/,
    reason: (_, said) => `has a certificate that is not to be trusted (${said})`,
    nextSteps: () => [
      'name the certificate of whoever signed it: add ?sslrootcert=FILE to the address.',
      'With sslmode=verify-full the host must be a name that the certificate has.',
    ],
  },
  {
    codes: /^(?:40P01|55P03|57014)$/,
    reason: (_, said) => `is busy (${said})`,
    nextSteps: () => ['see in pg_stat_activity what it is busy with, then try again.'],
  },
  {
    codes: /^ERR_POSTGRES_CONNECTION_CLOSED$/,
    reason: () => 'has closed the connection',
    nextSteps: () => ["look into the server's log, then try again."],
  },
  {
    codes: /^ERR_POSTGRES_(?:CONNECTION_FAILED|UNEXPECTED_MESSAGE|INVALID_MESSAGE)/,
    reason: ({ host, port }) =>
      `cannot be reached: what answers at ${host}:${port} is no PostgreSQL, or is going down`,
    nextSteps: () => ['check host and port.'],
  },
];

function pooled(said: string): string {
  return `is behind a pooler that does not keep what crm sets up on a connection (${said})`;
}

function poolerSteps(): string[] {
  const names = new Set(Object.values(SETTINGS).flatMap((settings) => Object.keys(settings)));
  return [
    'go to the server itself, or let PgBouncer pool by session (pool_mode = session), or, from its version 1.21 on, ' +
      'with max_prepared_statements = 1000.',
    `either way it needs the line: ignore_startup_parameters = ${[...names].join(',')}`,
  ];
}

/** Says for the operator why a connection cannot be opened. */
export async function explainOpening(address: PostgresAddress, error: unknown): Promise<PostgresError> {
  if (error instanceof PostgresError) return error;
  const explained = explainStatement(address, error);
  if (explained instanceof PostgresError) return explained;
  if (codeOf(error) === 'ERR_POSTGRES_CONNECTION_REFUSED') return explainRefusal(address, error);
  return told(address, `cannot be reached (${saidBy(error)})`, ["look into the server's log."], error);
}

/** Says for the operator what is wrong with a database; an error about something else comes back as it is. */
export function explainStatement(address: PostgresAddress, error: unknown): unknown {
  const code = sqlState(error) || codeOf(error);
  if (code === WRITE_REFUSED) return onlyReading(address, error);
  const advice = ADVICE.find(({ codes }) => codes.test(code));
  if (advice === undefined) return error;
  const said = saidBy(error);
  return told(address, advice.reason(address, said), advice.nextSteps(address, said), error);
}

async function explainRefusal(address: PostgresAddress, error: unknown): Promise<PostgresError> {
  const { host, port } = address;
  if (host.startsWith('/')) {
    const nextSteps = ['start the server, or name the folder of its socket: ?host=FOLDER.'];
    return told(
      address,
      `cannot be reached: no server has a socket ${host}/.s.PGSQL.${port}`,
      nextSteps,
      error,
    );
  }
  const isKnown = await lookup(host).then(
    () => true,
    () => false,
  );
  if (!isKnown) {
    return told(
      address,
      `cannot be reached: there is no host ${host}`,
      ['check the name of the host.'],
      error,
    );
  }
  const nextSteps = [
    'start the server, or check host and port (listen_addresses and port in postgresql.conf).',
  ];
  return told(address, `cannot be reached: nobody listens at ${host}:${port}`, nextSteps, error);
}

/** An error of the database at that address; `reason` goes on from its name. */
export function told(
  { shown }: PostgresAddress,
  reason: string,
  nextSteps: readonly string[],
  cause?: unknown,
): PostgresError {
  return new PostgresError(`The database ${shown} ${reason}.`, nextSteps, cause);
}

/** The error of a database that takes no writes. */
export function onlyReading(address: PostgresAddress, cause?: unknown): PostgresError {
  const reason = 'only reads: its server is a standby, or was set so';
  return told(address, reason, ['name the primary server in the address.'], cause);
}

/** The error of a database that another connection's statements reach. */
export function behindPooler(address: PostgresAddress, said: string): PostgresError {
  return told(address, pooled(said), poolerSteps());
}

/** The error of a database that answers nothing. */
export function silent(address: PostgresAddress, ms: number): PostgresError {
  return told(address, `has not answered for ${ms / 1_000} s`, [
    'look whether its server and the way there are up.',
  ]);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function saidBy(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
