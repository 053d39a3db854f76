// The first request of a run: checks server and key, and learns about both.
import { isObject } from '../../../db/model/json.ts';
import type { Client } from '../../api/client.ts';
import { recordOf, unexpectedAnswer } from '../../api/envelope.ts';
import { responseError } from '../../api/response-error.ts';
import { CliError } from '../../errors.ts';

export interface Preflight {
  organizationId: string;
  requestsPerMinute: number;
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
  return { organizationId: String(organization.id), requestsPerMinute: Number(key.requests_per_minute) };
}
