// `crm health`: whether a server is ready, for whoever asks often and has neither shell nor curl, as in a container.
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
    .summary('tell whether the server is ready')
    .description(
      'Ask the server whether it is ready to read and write: exit code 0 where it is, 1 where it is not. It needs no key; ' +
        'the certificate of a server on this machine may be of any name.',
    )
    .action((_options: unknown, command: Command) => runHealth(resolveConfig(command)));
}

async function runHealth({ url }: Config): Promise<void> {
  const base = serverBase(url);
  const answer = await askReady(base);
  if (answer instanceof Error) {
    const { reason, nextSteps } = connectionFailureOf(base, answer);
    throw new CliError(`The server at ${url} does not answer: ${reason}.`, { nextSteps });
  }
  if (answer.status === 200) return note('ready');
  const location = answer.headers.get('location');
  if (answer.status >= 300 && answer.status < 400 && location) {
    // What answers there says nothing of this server.
    throw new CliError(`The server at ${url} sends /readyz on to ${location} (${answer.status}).`, {
      nextSteps: ['name the server itself with --url or CRM_URL; no redirect is followed.'],
    });
  }
  const nextSteps = ['see what its log says, or name another server with --url or CRM_URL.'];
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
