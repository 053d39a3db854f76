// The flags of `bun run bench`.
import { parseArgs } from 'node:util';

export interface Options {
  /** Names of operations; all of them where there are none. */
  only: readonly string[];
  rounds: number;
  /** Of one round of one operation on one server. */
  seconds: number;
  /** For how many seconds a server that is done with what was written takes no CPU time. */
  idleSeconds: number;
  contacts: number;
  connections: number;
  /** Which bare servers to run beside crm. */
  against: readonly string[];
  json: string | undefined;
  /** So many threads that answer, beside a server that has none; undefined for no such server. */
  readers: number | undefined;
  /** The size of a large database to measure instead of all else, 1 for a million contacts; undefined for none. */
  large: number | undefined;
  /** The folder in which a large database is kept, or was by an earlier run; undefined to remove it. */
  keep: string | undefined;
  /** An executable of PocketBase, to ask the same of it as of a large database in a file; undefined for none. */
  pocketbase: string | undefined;
  /** So many different requests of each kind a large database is asked. */
  requests: number;
  /** Address of a PostgreSQL server, to run crm and a bare server there too. */
  postgres: string | undefined;
}

/** What `against` may name. */
export const BARE_SERVERS = ['bare', 'same-tables', 'bare-postgres'] as const;

const FULL = { rounds: 5, seconds: 1, contacts: 100_000, connections: 32, idleSeconds: 1 };
// For CI: shows that everything works, and nothing else.
const SHORT = { rounds: 1, seconds: 0.001, contacts: 800, connections: 4, idleSeconds: 0.001 };

// Of a large database: seconds that each question is asked, at least, different requests of each, and rounds of writes.
const LARGE = { rounds: 3, seconds: 2 };
const REQUESTS = 300;
const REQUESTS_SHORT = 8;

export const USAGE = `bun run bench [options]

Compares dist/crm (or CRM_BIN) with bare servers, and with another build of crm (CRM_BIN_BEFORE), in one run.

  --only NAME,…      these operations alone; an unknown name prints all of them
  --against NAME,…   which bare servers: ${BARE_SERVERS.join(', ')} (all unless said); or none
  --readers N        crm serve --readers N too
  --postgres URL     crm on PostgreSQL too, and bare-postgres, in databases made there and dropped at the end
  --rounds N         rounds of each operation (${FULL.rounds})
  --seconds N        seconds of each round on each server (${FULL.seconds})
  --contacts N       contacts that are there (${FULL.contacts.toLocaleString('en')})
  --connections N    connections at a time (${FULL.connections})
  --large [SCALE]    a large database instead: 1 (if no scale is given) is a million contacts, 0.01 ten thousand
  --pocketbase FILE  with --large: asks this executable of PocketBase the same, and measures nothing else
  --keep FOLDER      keeps it there, on a server in a database; a later run asks the same, and writes to a copy
  --json FILE        writes every figure to a file too
  --short            few contacts and fractions of a second: shows that it works, measures nothing`;

/** Reads the flags; throws an error with the usage where they are not understood. */
export function readOptions(args: readonly string[]): Options {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: withScale(args),
    options: {
      only: text,
      against: text,
      rounds: text,
      seconds: text,
      contacts: text,
      connections: text,
      json: text,
      postgres: text,
      readers: text,
      large: text,
      keep: text,
      pocketbase: text,
      short: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  const isLarge = values.large !== undefined;
  const base = {
    ...(values.short ? SHORT : FULL),
    ...(isLarge && !values.short && LARGE),
  };
  const numberOf = (
    name: Exclude<keyof typeof FULL, 'idleSeconds'> | 'readers' | 'large',
    usual?: number,
  ) => {
    const number = Number(values[name] ?? usual);
    if (number > 0) return number;
    throw new Error(`--${name} must be a positive number\n\n${USAGE}`);
  };
  const listOf = (given: string) => given.split(',').filter((name) => name !== '' && name !== 'none');
  return {
    only: listOf(values.only ?? ''),
    against: listOf(values.against ?? BARE_SERVERS.join(',')),
    rounds: numberOf('rounds', base.rounds),
    seconds: numberOf('seconds', base.seconds),
    idleSeconds: base.idleSeconds,
    contacts: numberOf('contacts', base.contacts),
    connections: numberOf('connections', base.connections),
    readers: values.readers === undefined ? undefined : numberOf('readers'),
    requests: values.short ? REQUESTS_SHORT : REQUESTS,
    large: isLarge ? numberOf('large') : undefined,
    keep: values.keep,
    pocketbase: values.pocketbase,
    json: values.json,
    postgres: values.postgres,
  };
}

/** The flags with the usual scale after a --large that has none. */
function withScale(args: readonly string[]): string[] {
  return args.flatMap((arg, index) => {
    const next = args[index + 1];
    return arg === '--large' && (next === undefined || next.startsWith('--')) ? [arg, '1'] : [arg];
  });
}
