// The address of a PostgreSQL database, as psql takes it too; it is shown without its password, by this module alone.
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { DatabaseAddressError } from '../database-error.ts';

const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
const CHANNEL_BINDINGS = ['disable', 'prefer', 'require'] as const;

export type SslMode = (typeof SSL_MODES)[number];

/** A database, and how to get there: what the address leaves out is taken from the environment, as libpq does. */
export interface PostgresAddress {
  /** Name or number of the host, or the folder of a Unix socket. */
  host: string;
  port: number;
  user: string;
  database: string;
  /** Null where the address has none. */
  password: string | null;
  sslMode: SslMode;
  /** File with the certificates that the server's is checked against; null for the usual ones. */
  sslRootCert: string | null;
  channelBinding: (typeof CHANNEL_BINDINGS)[number];
  /** Connections that read, and those that write. */
  readers: number;
  writers: number;
  /** The address to be shown: as it was given, without its password. */
  shown: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const PORT = 5432;
const CONNECTIONS = 6;
const CONNECTIONS_MAX = 100;
// Where Debian's packages, and PostgreSQL as it comes, put the socket.
const SOCKET_FOLDERS = ['/var/run/postgresql', '/tmp'];

const FORM = 'postgres://user@host:5432/database';
const PARAMETERS = [
  'host',
  'port',
  'user',
  'password',
  'dbname',
  'sslmode',
  'sslrootcert',
  'channel_binding',
  'readers',
  'writers',
];

const HARMLESS = PARAMETERS.filter((name) => name !== 'password');

// Scheme, user, password, host, port, database, parameters.
const ADDRESS =
  /^postgres(?:ql)?:\/\/(?:([^:@/?]*)(?::([^@/?]*))?@)?(\[[^\]/?]*\]|[^:@/?,[\]]*)(?::(\d*))?(?:\/([^/?]*))?(?:\?(.*))?$/is;

/**
 * Reads the address of a database.
 * @throws DatabaseAddressError if it is none, or lacks what nothing else tells
 */
export function parseAddress(text: string, env: Environment = process.env): PostgresAddress {
  const match = ADDRESS.exec(text);
  if (match === null) throw unusable(text, whyNot(text));
  const [, user, password, host, port, database, query] = match.map((part) => decoded(text, part));
  const parameters = parametersOf(text, query);
  const given = (name: string, part?: string, variable = '') =>
    parameters.get(name) || part || env[variable] || null;
  const name = given('dbname', database);
  if (name === null) throw unusable(text, 'names no database');
  const portNumber = numberOf(text, 'port', given('port', port, 'PGPORT'), PORT, 65_535);
  return {
    host: given('host', host?.replace(/^\[|\]$/g, ''), 'PGHOST') ?? defaultHost(portNumber),
    port: portNumber,
    user: given('user', user, 'PGUSER') ?? systemUser(text),
    database: name,
    password: given('password', password),
    sslMode: choiceOf(text, 'sslmode', given('sslmode', '', 'PGSSLMODE') ?? 'prefer', SSL_MODES),
    sslRootCert: given('sslrootcert', '', 'PGSSLROOTCERT'),
    channelBinding: choiceOf(
      text,
      'channel_binding',
      given('channel_binding', '', 'PGCHANNELBINDING') ?? 'prefer',
      CHANNEL_BINDINGS,
    ),
    readers: numberOf(text, 'readers', given('readers'), CONNECTIONS, CONNECTIONS_MAX),
    writers: numberOf(text, 'writers', given('writers'), CONNECTIONS, CONNECTIONS_MAX),
    shown: shownAddress(text),
  };
}

/** An address as it may be shown: without its password, also where it is none that can be read. */
export function shownAddress(text: string): string {
  const [front = '', query = ''] = text.split(/\?(.*)/s);
  // Where a ? stands in a password, nobody knows where that ends.
  if (query !== '' && !ADDRESS.test(text)) return text.replace(/\/\/.*/s, '//…');
  // Up to the last @, because a password that should have been escaped can have one in it.
  const shown = front.replace(/^([^/]*\/\/)([^:@/]*)(?::.*)?@/s, '$1$2@');
  const rest = query.split('&').filter((pair) => HARMLESS.includes(pair.split('=')[0] ?? ''));
  return rest.length === 0 ? shown : `${shown}?${rest.join('&')}`;
}

/** Whether an address holds a password, which whoever lists the processes of the machine can read. */
export function hasPassword(text: string): boolean {
  return shownAddress(text) !== text;
}

function parametersOf(text: string, query: string | undefined): Map<string, string> {
  const pairs = (query ?? '').split('&').filter((pair) => pair !== '');
  return new Map(
    pairs.map((pair): [string, string] => {
      const [name = '', value = ''] = pair.split(/=(.*)/s);
      if (PARAMETERS.includes(name)) return [name, value];
      throw unusable(
        text,
        `has the unknown parameter "${name}"`,
        `after the ? it can have ${PARAMETERS.join(', ')}.`,
      );
    }),
  );
}

function decoded(text: string, part: string | undefined): string | undefined {
  try {
    return part === undefined ? undefined : decodeURIComponent(part);
  } catch {
    throw unusable(text, 'has a % that begins no character (a % itself is written %25)');
  }
}

function whyNot(text: string): string {
  const [, scheme = ''] = /^([a-z][\w+.-]*):/i.exec(text) ?? [];
  if (!/^postgres(?:ql)?$/i.test(scheme)) return `begins with ${scheme}:, and that is no database of crm`;
  if (/@.*@/s.test(text)) return 'has more than one @ (in a password it is written %40, a / %2F)';
  if (/^[^?]*,/.test(text)) return 'names more than one host';
  return 'cannot be read';
}

function unusable(text: string, reason: string, allowed?: string): DatabaseAddressError {
  return new DatabaseAddressError(`The address ${shownAddress(text)} ${reason}.`, [
    allowed ?? `name a database of PostgreSQL as ${FORM}, or the path of a file.`,
  ]);
}

function choiceOf<T extends string>(text: string, name: string, value: string, choices: readonly T[]): T {
  const choice = choices.find((one) => one === value);
  if (choice !== undefined) return choice;
  throw unusable(text, `has ${name}=${value}`, `${name} is one of ${choices.join(', ')}.`);
}

function numberOf(text: string, name: string, value: string | null, usual: number, max: number): number {
  if (value === null) return usual;
  const number = /^\d{1,5}$/.test(value) ? Number(value) : 0;
  if (number >= 1 && number <= max) return number;
  throw unusable(text, `has ${name}=${value}`, `${name} is a number from 1 to ${max}.`);
}

function defaultHost(port: number): string {
  return SOCKET_FOLDERS.find((folder) => existsSync(`${folder}/.s.PGSQL.${port}`)) ?? 'localhost';
}

function systemUser(text: string): string {
  try {
    return userInfo().username;
  } catch {
    // One that only a container knows by number has no name.
    throw unusable(text, 'names no user');
  }
}
