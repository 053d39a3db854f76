// Looks at the server that data commands ask: whether it answers and is ready, its clock, its version, and what the key may do.
import { isObject } from '../../db/model/json.ts';
import { serverBase } from '../api/client.ts';
import { connectionFailureOf } from '../api/connection-error.ts';
import { Trace } from '../api/trace.ts';
import { CliError } from '../errors.ts';
import type { Config } from '../settings/config.ts';
import { formatDuration } from '../terminal/format.ts';
import { VERSION } from '../version.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

const ANSWER_MS_MAX = 5_000;
const SKEW_SECONDS_MAX = 5;

/** A finding for each thing about the server; one alone where it does not answer. */
export async function checkService({ url, apiKey }: Config): Promise<Finding[]> {
  const base = baseOf(url);
  if (base instanceof CliError)
    return [fail('server', sentence(base.message), base.nextSteps.map(sentence).join('; '))];
  const health = await ask(`${base}/healthz`);
  if (health instanceof Error || !health.ok) {
    if (!(health instanceof Error)) {
      const next =
        'check the address in --url or CRM_URL: this is not a crm server, or one that is stopping.';
      return [warn('server', `${base} answers ${health.status} to /healthz`, next)];
    }
    const { reason, nextSteps } = connectionFailureOf(base, health);
    return [warn('server', `nothing answers at ${base}: ${reason}`, nextSteps.map(sentence).join('; '))];
  }
  const key = await apiKey().catch(() => null);
  return [
    ok('server', `answers at ${base}`),
    await checkReady(base),
    checkClock(health),
    await checkVersion(base),
    ...(key === null ? [] : [await checkKey(base, key)]),
  ];
}

function baseOf(url: string): string | CliError {
  try {
    return serverBase(url);
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
}

// A finding's words are parts of one sentence.
function sentence(message: string): string {
  return message.replace(/\.$/, '');
}

async function ask(url: string, headers: Record<string, string> = {}): Promise<Response | Error> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS_MAX);
    return await new Trace().fetch(url, { headers, signal });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

async function checkReady(base: string): Promise<Finding> {
  const answer = await ask(`${base}/readyz`);
  if (!(answer instanceof Error) && answer.ok) return ok('ready', 'it reads and writes');
  return fail(
    'ready',
    'it cannot write just now',
    'see what its log says; its database is looked at above if it is this one.',
  );
}

// The second of the answer is that of its beginning.
function checkClock(answer: Response): Finding {
  const at = Date.parse(answer.headers.get('Date') ?? '');
  if (Number.isNaN(at)) return ok('clock', 'the server does not tell the time');
  const seconds = Math.abs(Date.now() - at) / 1_000;
  if (seconds <= SKEW_SECONDS_MAX) return ok('clock', 'the server’s and this machine’s agree');
  return warn(
    'clock',
    `the server’s and this machine’s are ${formatDuration(seconds)} apart`,
    'set both by NTP: timedatectl set-ntp true',
  );
}

async function checkVersion(base: string): Promise<Finding> {
  const answer = await ask(`${base}/docs/json`);
  const document: unknown =
    answer instanceof Error || !answer.ok ? null : await answer.json().catch(() => null);
  const info = isObject(document) ? document.info : null;
  const version = isObject(info) ? info.version : undefined;
  if (typeof version !== 'string')
    return warn('version', 'the server does not tell its own', 'see whether it is a crm at all.');
  if (version === VERSION) return ok('version', `crm ${VERSION} on both sides`);
  return warn(
    'version',
    `the server is crm ${version}, and this is ${VERSION}`,
    'use the same on both sides.',
  );
}

// What a key may write is not tried out: that would write.
async function checkKey(base: string, key: string): Promise<Finding> {
  const { apiOfKey } = await import('../../db/tables/key-format.ts');
  const api = apiOfKey(key);
  const again = 'issue another: crm keys issue --org NAME --all-scopes';
  if (api === undefined) return fail('key', 'what is given is no key of crm, or mistyped', again);
  const answers = api === 'v2' ? await readAll(base, key) : await readPeople(base, key);
  if (answers.some(({ isElsewhere }) => isElsewhere))
    return fail(
      'key',
      'it may not be used from this address',
      'allow it: crm keys update ID --allow-ip CIDR',
    );
  const statuses = answers.map(({ name, status }): [string, number] => [name, status]);
  if (statuses.some(([, status]) => status === 401))
    return fail('key', 'it is not valid there, or has expired', again);
  const refused = statuses.filter(([, status]) => status === 403).map(([name]) => name);
  const failed = statuses.find(([, status]) => status !== 200 && status !== 403);
  if (failed !== undefined)
    return warn('key', `reading ${failed[0]} is answered with ${failed[1]}`, 'try again in a minute.');
  if (refused.length === 0)
    return ok('key', `a key for ${api} that may read ${statuses.map(([name]) => name).join(', ')}`);
  return ok('key', `a key for ${api} that may not read ${refused.join(', ')}`);
}

interface Reading {
  name: string;
  /** 0 where nothing answers. */
  status: number;
  /** Whether it was refused for the address from which it came. */
  isElsewhere: boolean;
}

async function readAll(base: string, key: string): Promise<Reading[]> {
  const { RESOURCES } = await import('../../db/model/resources/registry.ts');
  const readings: Reading[] = [];
  for (const { name } of RESOURCES) {
    const answer = await ask(`${base}/api/v2/${name}?limit=1`, { Authorization: `Bearer ${key}` });
    readings.push(await readingOf(name, answer));
  }
  return readings;
}

async function readPeople(base: string, key: string): Promise<Reading[]> {
  const answer = await new Trace()
    .fetch(`${base}/api/v1/people/query`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: '{"limit":1}',
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    })
    .catch((error: Error) => error);
  return [await readingOf('people', answer)];
}

// Any key may read, if it has the scope.
async function readingOf(name: string, answer: Response | Error): Promise<Reading> {
  if (answer instanceof Error) return { name, status: 0, isElsewhere: false };
  const isElsewhere = answer.status === 403 && (await answer.text()).includes('"OPERATION_FORBIDDEN"');
  return { name, status: answer.status, isElsewhere };
}
