// The password of a database if it is not in the URL: from PGPASSWORD, or from psql's password file.
import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { PostgresAddress } from './address.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface FoundPassword {
  /** Null if there is none. */
  password: string | null;
  /** Why the password file was ignored; null if it was not. */
  warning: string | null;
}

// The password file calls these sockets localhost.
const DEFAULT_SOCKET_FOLDERS = ['/var/run/postgresql', '/tmp'];

/** The password of a database: from its URL, PGPASSWORD, or PGPASSFILE (~/.pgpass by default), in this order. */
export function findPassword(address: PostgresAddress, env: Environment = process.env): FoundPassword {
  const given = address.password || env.PGPASSWORD;
  if (given) return { password: given, warning: null };
  const path = env.PGPASSFILE || join(env.HOME || homeFolder(), '.pgpass');
  const text = readPrivate(path);
  if (text.warning !== null) return { password: null, warning: text.warning };
  return { password: passwordIn(text.lines, address), warning: null };
}

function homeFolder(): string {
  try {
    return homedir();
  } catch {
    return '/';
  }
}

function readPrivate(path: string): { lines: string[]; warning: string | null } {
  const status = statSync(path, { throwIfNoEntry: false });
  if (status === undefined) return { lines: [], warning: null };
  const ignored = (reason: string) => ({
    lines: [],
    warning: `The password file ${path} is ignored: ${reason}.`,
  });
  if (!status.isFile()) return ignored('it is not a regular file');
  if ((status.mode & 0o077) !== 0) return ignored(`others can read it; run "chmod 600 ${path}"`);
  try {
    return { lines: readFileSync(path, 'utf8').split(/\r?\n/), warning: null };
  } catch {
    return ignored('it cannot be read');
  }
}

// The first matching line counts: host, port, database, user and password, with * for any value, and a \ before each : or \
// within a value.
function passwordIn(
  lines: readonly string[],
  { host, port, database, user }: PostgresAddress,
): string | null {
  const hostName = DEFAULT_SOCKET_FOLDERS.includes(host) ? 'localhost' : host;
  const wanted = [hostName, String(port), database, user];
  for (const line of lines) {
    if (line.startsWith('#')) continue;
    const fields = line.match(/(?<=^|:)(?:[^:\\]|\\.)*(?=:|$)/gs) ?? [];
    const password = fields[wanted.length];
    const fits = wanted.every((value, index) => fields[index] === '*' || unescaped(fields[index]) === value);
    if (fits && password !== undefined) return unescaped(password);
  }
  return null;
}

function unescaped(field = ''): string {
  return field.replace(/\\(.)/gs, '$1');
}
