// The URL of a PostgreSQL database, as psql accepts it; only this module decides how to show it without its password.
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { DatabaseAddressError } from '../database-error.ts';

const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
const CHANNEL_BINDINGS = ['disable', 'prefer', 'require'] as const;

export type SslMode = (typeof SSL_MODES)[number];

/** A database and how to connect to it; the environment supplies what the URL leaves out, as with libpq. */
export interface PostgresAddress {
  /** Name or IP address of the host, or the folder of a Unix socket. */
  host: string;
  port: number;
  user: string;
  database: string;
  /** Null if it is not in the URL. */
  password: string | null;
  sslMode: SslMode;
  /** File with the certificates to check the server's against; null for the default. */
  sslRootCert: string | null;
  channelBinding: (typeof CHANNEL_BINDINGS)[number];
  /** Number of connections for reading, and for writing. */
  readers: number;
  writers: number;
  /** The URL for messages: as given, without its password. */
  shown: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const PORT = 5432;
const CONNECTIONS = 6;
const CONNECTIONS_MAX = 100;
// Where Debian's packages, and PostgreSQL's own defaults, put the socket.
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
 * Reads the URL of a database.
 * @throws DatabaseAddressError if it is not valid, or lacks a part that the environment does not supply
 */
export function parseAddress(text: string, env: Environment = process.env): PostgresAddress {
  const match = ADDRESS.exec(text);
  if (match === null) throw unusable(text, whyNot(text));
  const [, user, password, host, port, database, query] = match.map((part) => decoded(text, part));
  const parameters = parametersOf(text, query);
  const given = (name: string, part?: string, variable = '') =>
    parameters.get(name) || part || env[variable] || null;
  const name = given('dbname', database);
  if (name === null) throw unusable(text, 'does not name a database');
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

/** A URL as it can be shown: without its password, even if the URL is not valid. */
export function shownAddress(text: string): string {
  const [front = '', query = ''] = text.split(/\?(.*)/s);
  // With a ? in the password, its end is unknown; before the ? it can look like a port.
  if (query !== '' && (query.includes('@') || !ADDRESS.test(text))) return text.replace(/\/\/.*/s, '//…');
  // Up to the last @, because an unescaped password can contain one.
  const shown = front.replace(/^([^/]*\/\/)([^:@/]*)(?::.*)?@/s, '$1$2@');
  const rest = query.split('&').filter((pair) => HARMLESS.includes(pair.split('=')[0] ?? ''));
  return rest.length === 0 ? shown : `${shown}?${rest.join('&')}`;
}

/** Whether a URL contains a password, which everyone who can list the processes of the machine can read. */
export function hasPassword(text: string): boolean {
  return shownAddress(text) !== text;
}

function parametersOf(text: string, query: string | undefined): Map<string, string> {
  const pairs = (query ?? '').split('&').filter((pair) => pair !== '');
  return new Map(
    pairs.map((pair): [string, string] => {
      const [name = '', value = ''] = pair.split(/=(.*)/s);
      if (PARAMETERS.includes(name)) return [name, value];
      if (query?.includes('@')) throw unusable(text, 'has a ? before an @ (in a password, write ? as %3F)');
      // Anything but a word could be part of a password.
      const what = /^[a-z_]+$/i.test(name) ? `the unknown parameter "${name}"` : 'an unknown parameter';
      throw unusable(text, `has ${what}`, `the parameters are ${PARAMETERS.join(', ')}.`);
    }),
  );
}

function decoded(text: string, part: string | undefined): string | undefined {
  try {
    return part === undefined ? undefined : decodeURIComponent(part);
  } catch {
    throw unusable(text, 'has a % that is not followed by a character code (write a % as %25)');
  }
}

function whyNot(text: string): string {
  const [, scheme = ''] = /^([a-z][\w+.-]*):/i.exec(text) ?? [];
  if (!/^postgres(?:ql)?$/i.test(scheme)) return `begins with ${scheme}:, which crm does not support`;
  if (/@.*@/s.test(text)) return 'has more than one @ (in a password, write @ as %40 and / as %2F)';
  if (/^[^?]*,/.test(text)) return 'names more than one host';
  return 'is not valid';
}

function unusable(text: string, reason: string, allowed?: string): DatabaseAddressError {
  return new DatabaseAddressError(`The database URL ${shownAddress(text)} ${reason}.`, [
    allowed ?? `use ${FORM} for a PostgreSQL database, or the path of a file.`,
  ]);
}

function choiceOf<T extends string>(text: string, name: string, value: string, choices: readonly T[]): T {
  const choice = choices.find((one) => one === value);
  if (choice !== undefined) return choice;
  throw unusable(text, `has ${name}=${value}`, `${name} must be one of ${choices.join(', ')}.`);
}

function numberOf(text: string, name: string, value: string | null, usual: number, max: number): number {
  if (value === null) return usual;
  const number = /^\d{1,5}$/.test(value) ? Number(value) : 0;
  if (number >= 1 && number <= max) return number;
  throw unusable(text, `has ${name}=${value}`, `${name} must be a number from 1 to ${max}.`);
}

function defaultHost(port: number): string {
  return SOCKET_FOLDERS.find((folder) => existsSync(`${folder}/.s.PGSQL.${port}`)) ?? 'localhost';
}

function systemUser(text: string): string {
  try {
    return userInfo().username;
  } catch {
    // In a container, a user can have a number without a name.
    throw unusable(text, 'does not name a user');
  }
}
