// Checks the server that data commands call: whether it responds and is ready, its clock, its version, and what the key can read.
import { isObject } from '../../db/model/json.ts';
import { RESOURCES } from '../../db/model/resources/registry.ts';
import { apiOfKey } from '../../db/tables/key-format.ts';
import { connectionFailureOf } from '../api/connection-error.ts';
import { askOnce, NOT_FOLLOWED, redirectTarget } from '../api/health.ts';
import type { TracedInit } from '../api/trace.ts';
import { CliError } from '../errors.ts';
import type { Config } from '../settings/config.ts';
import { serverBase } from '../settings/server-url.ts';
import { formatDuration } from '../terminal/format.ts';
import { VERSION } from '../version.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

// A busy server takes several seconds to describe its API for the first time.
const ANSWER_MS_MAX = 15_000;
const SKEW_SECONDS_MAX = 5;

/** The findings about the server; a single one if it does not respond. */
export async function checkService({ url, apiKey }: Config): Promise<Finding[]> {
  const base = baseOf(url);
  if (base instanceof CliError)
    return [fail('server', sentence(base.message), base.nextSteps.map(sentence).join('; '))];
  const askedAtMs = Date.now();
  const health = await ask(`${base}/healthz`);
  const answeredAtMs = Date.now();
  if (health instanceof Error || !health.ok) {
    if (!(health instanceof Error)) {
      const location = redirectTarget(health);
      if (location !== undefined)
        return [warn('server', `${base} redirects /healthz to ${location} (${health.status})`, NOT_FOLLOWED)];
      const next =
        'check the server URL in --url or CRM_URL: this is not a crm server, or it is shutting down.';
      return [warn('server', `${base} responds with ${health.status} to /healthz`, next)];
    }
    const { reason, nextSteps } = connectionFailureOf(base, health);
    return [warn('server', `no response from ${base}: ${reason}`, nextSteps.map(sentence).join('; '))];
  }
  const key = await apiKey().catch(() => null);
  return [
    ok('server', `responds at ${base}`),
    await checkReady(base),
    checkClock(health.headers.get('Date'), askedAtMs, answeredAtMs),
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

// Findings do not end with a full stop.
function sentence(message: string): string {
  return message.replace(/\.$/, '');
}

function ask(url: string, init: TracedInit = {}): Promise<Response | Error> {
  return askOnce(url, { ...init, signal: AbortSignal.timeout(ANSWER_MS_MAX) });
}

/** The finding that the server did not respond to this request, although it responded to another. */
function unanswered(report: typeof warn, check: string, url: string, error: Error): Finding {
  const found = `no response to ${new URL(url).pathname}: ${connectionFailureOf(url, error).reason}`;
  return report(check, found, 'check the log of the server, and whether its machine is overloaded.');
}

async function checkReady(base: string): Promise<Finding> {
  const url = `${base}/readyz`;
  const answer = await ask(url);
  if (answer instanceof Error) return unanswered(fail, 'ready', url, answer);
  if (answer.ok) return ok('ready', 'it can read and write');
  return fail(
    'ready',
    'it cannot write right now',
    'check the log of the server. If it uses the database above, see its findings too.',
  );
}

/** The finding about the server's clock, from the Date header of a response and when it was asked for and came. */
export function checkClock(date: string | null, askedAtMs: number, answeredAtMs: number): Finding {
  const atMs = Date.parse(date ?? '');
  if (Number.isNaN(atMs)) return ok('clock', 'the server does not send a Date header');
  // The server read its clock at some time in between, and rounded down to whole seconds.
  const seconds = Math.max(0, askedAtMs - (atMs + 999), atMs - answeredAtMs) / 1_000;
  if (seconds <= SKEW_SECONDS_MAX) return ok('clock', 'server and this machine agree');
  return warn(
    'clock',
    `server and this machine differ by ${formatDuration(seconds)}`,
    'synchronize both clocks with NTP: timedatectl set-ntp true',
  );
}

async function checkVersion(base: string): Promise<Finding> {
  const url = `${base}/docs/json`;
  const answer = await ask(url);
  if (answer instanceof Error) return unanswered(warn, 'version', url, answer);
  // Its body can be late, too.
  const document: unknown = answer.ok ? await answer.json().catch((error: unknown) => error) : null;
  if (document instanceof Error && document.name === 'TimeoutError')
    return unanswered(warn, 'version', url, document);
  const info = isObject(document) ? document.info : null;
  const version = isObject(info) ? info.version : undefined;
  if (typeof version !== 'string')
    return warn('version', 'the server does not report a version', 'check that the server is a crm server.');
  if (version === VERSION) return ok('version', `crm ${VERSION} on both sides`);
  return warn(
    'version',
    `the server is crm ${version}, this command line is crm ${VERSION}`,
    'use the same version on both sides.',
  );
}

// Write scopes are not tested: that would write.
async function checkKey(base: string, key: string): Promise<Finding> {
  const api = apiOfKey(key);
  const again = 'issue a new one: crm keys issue --org NAME --all-scopes';
  if (api === undefined) return fail('key', 'it is not a crm API key, or it has a typo', again);
  const answers = api === 'v2' ? await readAll(base, key) : await readPeople(base, key);
  if (answers.some(({ isElsewhere }) => isElsewhere))
    return fail(
      'key',
      'it is not allowed from this client IP',
      'allow this client IP: crm keys update ID --allow-ip CIDR',
    );
  const statuses = answers.map(({ name, status }): [string, number] => [name, status]);
  if (statuses.some(([, status]) => status === 401))
    return fail('key', 'it is not valid on this server, or has expired', again);
  const refused = statuses.filter(([, status]) => status === 403).map(([name]) => name);
  const failed = statuses.find(([, status]) => status !== 200 && status !== 403);
  if (failed !== undefined)
    return warn(
      'key',
      failed[1] === 0
        ? `reading ${failed[0]} got no response`
        : `reading ${failed[0]} failed with ${failed[1]}`,
      'try again in a minute.',
    );
  if (refused.length === 0)
    return ok('key', `${api} key that can read ${statuses.map(([name]) => name).join(', ')}`);
  return ok('key', `${api} key that cannot read ${refused.join(', ')}`);
}

interface Reading {
  name: string;
  /** 0 if there was no response. */
  status: number;
  /** Whether the key is not allowed from this client IP. */
  isElsewhere: boolean;
}

async function readAll(base: string, key: string): Promise<Reading[]> {
  const readings: Reading[] = [];
  for (const { name } of RESOURCES) {
    const answer = await ask(`${base}/api/v2/${name}?limit=1`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    readings.push(await readingOf(name, answer));
  }
  return readings;
}

async function readPeople(base: string, key: string): Promise<Reading[]> {
  const answer = await ask(`${base}/api/v1/people/query`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: '{"limit":1}',
  });
  return [await readingOf('people', answer)];
}

// A key with the scope can always read, so this 403 means a forbidden client IP.
async function readingOf(name: string, answer: Response | Error): Promise<Reading> {
  if (answer instanceof Error) return { name, status: 0, isElsewhere: false };
  const isElsewhere = answer.status === 403 && (await answer.text()).includes('"OPERATION_FORBIDDEN"');
  return { name, status: answer.status, isElsewhere };
}
