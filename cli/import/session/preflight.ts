// The first request of an import: whether server and key are good, and what can be known of both.
import type { Client } from '../../api/client.ts';
import { pageOf } from '../../api/envelope.ts';
import { responseError } from '../../api/response-error.ts';

export interface Preflight {
  /** Stands for the organization, whose own id no endpoint tells; null where the key may not read pipelines. */
  oldestPipelineId: string | null;
  requestsPerMinute: number;
}

const REQUESTS_PER_MINUTE_DEFAULT = 200;

/** Asks for the oldest pipeline before anything is read at length; throws a CliError where the key is no good. */
export async function preflight(client: Client): Promise<Preflight> {
  const query = { limit: '1', sort_direction: 'asc' };
  const response = await client.request('GET', '/api/v2/pipelines', { query, expectErrors: true });
  const { status, headers, body } = response;
  const requestsPerMinute = Number(headers.get('x-ratelimit-limit')) || REQUESTS_PER_MINUTE_DEFAULT;
  // A key without pipelines:read can import all the same.
  if (status === 403) return { oldestPipelineId: null, requestsPerMinute };
  if (body.object === 'error') throw responseError(response);
  const [oldest] = pageOf(response).records;
  return { oldestPipelineId: oldest === undefined ? null : String(oldest.id), requestsPerMinute };
}
