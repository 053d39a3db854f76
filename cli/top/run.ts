// Carries out `crm top`: on a terminal only.

import { connectionFailureOf } from '../api/connection-error.ts';
import { askOnce } from '../api/health.ts';
import { CliError, usageError } from '../errors.ts';
import type { Config } from '../settings/config.ts';
import { serverBase } from '../settings/server-url.ts';
import { canShowScreen } from '../terminal/questions.ts';
import { shellWord } from '../terminal/text.ts';
import { type MetricsSample, metricsOf } from './sample.ts';

const PORT_DEFAULT = 9_464;
const ANSWER_MS_MAX = 5_000;

/** Shows the server's figures until the person quits. */
export async function runTop({ metricsUrl }: { metricsUrl?: string }, config: Config): Promise<void> {
  const url = metricsUrl === undefined ? defaultUrl(config.url) : checkedUrl(metricsUrl);
  if (!canShowScreen())
    throw usageError('crm top needs a terminal.', `to read the metrics themselves: curl ${shellWord(url)}`);
  const first = await readSample(url);
  const { showTop } = await import('./screen/show.tsx');
  await showTop({ url, first, read: () => readSample(url) });
}

function defaultUrl(server: string): string {
  const url = new URL(serverBase(server));
  return `http://${url.hostname}:${PORT_DEFAULT}/metrics`;
}

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw usageError(`"${text}" is not a URL.`, `use a URL like http://127.0.0.1:${PORT_DEFAULT}/metrics.`);
  return url.pathname === '/' ? new URL('/metrics', url).href : url.href;
}

/** The metrics now; throws a CliError if there are none. */
async function readSample(url: string): Promise<MetricsSample> {
  const answer = await askOnce(url, { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
  if (answer instanceof Error) {
    const { reason } = connectionFailureOf(url, answer);
    throw new CliError(`There are no metrics at ${url}: ${reason}.`, {
      nextSteps: [
        `have the operator serve them: crm serve --metrics-port ${PORT_DEFAULT}`,
        'or say where they are with --metrics-url.',
      ],
    });
  }
  const sample = metricsOf(await answer.text(), performance.now());
  if (answer.ok && sample.has('crm_build_info')) return sample;
  throw new CliError(`${url} does not have the metrics of crm (${answer.status}).`, {
    nextSteps: ['use the URL that crm serve prints after "Metrics".'],
  });
}
