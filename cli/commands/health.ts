// `crm health`: checks whether a server is ready, for containers that have neither a shell nor curl.
import type { Command } from 'commander';
import { serverBase } from '../api/client.ts';
import { connectionFailureOf } from '../api/connection-error.ts';
import { isLoopback } from '../api/loopback.ts';
import { Trace } from '../api/trace.ts';
import { CliError } from '../errors.ts';
import { type Config, resolveConfig } from '../settings/config.ts';
import { note } from '../terminal/streams.ts';

const ANSWER_MS_MAX = 3_000;

/** Adds `crm health`. */
export function registerHealthCommand(program: Command): void {
  program
    .command('health')
    .summary('Check whether the server is ready')
    .description(
      'Check whether the server is ready to read and write: exit code 0 if it is, 1 if it is not. No API key is needed, and ' +
        'the certificate of a server on this machine may have any name.',
    )
    .action((_options: unknown, command: Command) => runHealth(resolveConfig(command)));
}

async function runHealth({ url }: Config): Promise<void> {
  const base = serverBase(url);
  const answer = await askReady(base);
  if (answer instanceof Error) {
    const { reason, nextSteps } = connectionFailureOf(base, answer);
    throw new CliError(`The server at ${url} does not respond: ${reason}.`, { nextSteps });
  }
  if (answer.status === 200) return note('ready');
  const location = answer.headers.get('location');
  if (answer.status >= 300 && answer.status < 400 && location) {
    // The target of a redirect says nothing about this server.
    throw new CliError(`The server at ${url} redirects /readyz to ${location} (${answer.status}).`, {
      nextSteps: ['set --url or CRM_URL to the server itself; crm does not follow redirects.'],
    });
  }
  const nextSteps = ['check its log, or choose another server with --url or CRM_URL.'];
  throw new CliError(`The server at ${url} is not ready (${answer.status}).`, { nextSteps });
}

async function askReady(base: string): Promise<Response | Error> {
  const rejectUnauthorized = !isLoopback(new URL(base).hostname);
  const signal = AbortSignal.timeout(ANSWER_MS_MAX);
  try {
    const options = { signal, tls: { rejectUnauthorized } };
    return await new Trace().fetch(`${base}/readyz`, options);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
