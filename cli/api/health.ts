// Carries out `crm health`: asks a server once whether it is ready.
import { CliError } from '../errors.ts';
import type { Config } from '../settings/config.ts';
import { serverBase } from '../settings/server-url.ts';
import { note } from '../terminal/streams.ts';
import { connectionFailureOf } from './connection-error.ts';
import { isLoopback } from './loopback.ts';
import { Trace, type TracedInit } from './trace.ts';

const ANSWER_MS_MAX = 3_000;

/** Prints that the server is ready; throws if it is not. */
export async function runHealth(_flags: unknown, { url }: Config): Promise<void> {
  const base = serverBase(url);
  // The certificate of a server on this machine may have any name.
  const tls = { rejectUnauthorized: !isLoopback(new URL(base).hostname) };
  const answer = await askOnce(`${base}/readyz`, { signal: AbortSignal.timeout(ANSWER_MS_MAX), tls });
  if (answer instanceof Error) {
    const { reason, nextSteps } = connectionFailureOf(base, answer);
    throw new CliError(`The server at ${url} does not respond: ${reason}.`, { nextSteps });
  }
  if (answer.status === 200) return note('ready');
  const location = redirectTarget(answer);
  if (location !== undefined) {
    throw new CliError(`The server at ${url} redirects /readyz to ${location} (${answer.status}).`, {
      nextSteps: [NOT_FOLLOWED],
    });
  }
  const nextSteps = ['check its log, or choose another server with --url or CRM_URL.'];
  throw new CliError(`The server at ${url} is not ready (${answer.status}).`, { nextSteps });
}

/** The next step after a redirect. */
export const NOT_FOLLOWED = 'set --url or CRM_URL to the server itself; crm does not follow redirects.';

/** Where a response redirects to; the target says nothing about the server that was asked. */
export function redirectTarget({ status, headers }: Response): string | undefined {
  return status >= 300 && status < 400 ? headers.get('location') || undefined : undefined;
}

/** The response to one request without retries, or why there is none. */
export async function askOnce(url: string, init: TracedInit): Promise<Response | Error> {
  try {
    return await new Trace().fetch(url, init);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
