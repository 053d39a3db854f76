// The first request of an import: checks server and key, and learns about both.
import type { Client } from '../../api/client.ts';
import { pageOf } from '../../api/envelope.ts';
import { responseError } from '../../api/response-error.ts';

export interface Preflight {
  /** Identifies the organization, whose ID the API does not return; null if the key cannot read pipelines. */
  oldestPipelineId: string | null;
  requestsPerMinute: number;
}

const REQUESTS_PER_MINUTE_DEFAULT = 200;

/** Requests the oldest pipeline before reading the input; throws a CliError if the key is not valid. */
export async function preflight(client: Client): Promise<Preflight> {
  const query = { limit: '1', sort_direction: 'asc' };
  const response = await client.request('GET', '/api/v2/pipelines', { query, expectErrors: true });
  const { status, headers, body } = response;
  const requestsPerMinute = Number(headers.get('x-ratelimit-limit')) || REQUESTS_PER_MINUTE_DEFAULT;
  // A key without pipelines:read can still import.
  if (status === 403) return { oldestPipelineId: null, requestsPerMinute };
  if (body.object === 'error') throw responseError(response);
  const [oldest] = pageOf(response).records;
  return { oldestPipelineId: oldest === undefined ? null : String(oldest.id), requestsPerMinute };
}
