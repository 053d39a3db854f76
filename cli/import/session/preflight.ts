// The first request of a run: checks server and key, and learns about both.
import { isObject } from '../../../db/model/json.ts';
import type { Client } from '../../api/client.ts';
import { recordOf, unexpectedAnswer } from '../../api/envelope.ts';
import { responseError } from '../../api/response-error.ts';
import { CliError } from '../../errors.ts';
import type { Faster } from '../../terminal/progress.ts';

export interface Preflight {
  organizationId: string;
  requestsPerMinute: number;
  keyId: string;
}

// What an organization may send, unless the operator says otherwise: no key of it gets more.
const ORGANIZATION_LIMIT_DEFAULT = 1_000;

/** What an operator can do for a long run; undefined if the key already has the usual limit of an organization. */
export function fasterThan(
  { requestsPerMinute, keyId }: Pick<Preflight, 'requestsPerMinute' | 'keyId'>,
  batchSize: number,
): Faster | undefined {
  if (requestsPerMinute >= ORGANIZATION_LIMIT_DEFAULT) return undefined;
  const command = `crm keys update ${keyId} --requests-per-minute ${ORGANIZATION_LIMIT_DEFAULT}`;
  return { ratePerMinuteMax: ORGANIZATION_LIMIT_DEFAULT * batchSize, command };
}

/** Asks whose key it is, before reading the input; throws a CliError if it is not valid. */
export async function preflight(client: Client): Promise<Preflight> {
  const response = await client.request('GET', '/api/v2/authenticate', { expectErrors: true });
  if (response.status === 404) {
    throw new CliError('The server is older than this crm, and does not have what this command needs.', {
      nextSteps: ['upgrade the server, or use the version of crm that it has: "crm doctor" shows both.'],
    });
  }
  if (response.body.object === 'error') throw responseError(response);
  const { organization, key } = recordOf(response);
  if (!isObject(organization) || !isObject(key)) throw unexpectedAnswer(response);
  return {
    organizationId: String(organization.id),
    requestsPerMinute: Number(key.requests_per_minute),
    keyId: String(key.id),
  };
}
