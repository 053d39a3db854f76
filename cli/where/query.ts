// What queries and counts share: which resources they work on, and the request.
import type { Data } from '../../db/model/json.ts';
import { childOf } from '../../db/model/links.ts';
import type { Resource } from '../../db/model/resource.ts';
import { relationsOf } from '../../db/model/resources/relations.ts';
import type { Client } from '../api/client.ts';
import type { ApiResponse } from '../api/envelope.ts';
import { isTarget, parseTarget, resourceFor, resourcePath } from '../api/target.ts';
import { CliError, isRefusal, usageError } from '../errors.ts';
import { shellWord } from '../terminal/text.ts';

/** The resource to query by a condition; a usage error says how to query those linked to a record. */
export function queriedResource(what: string, condition: string | undefined): Resource {
  if (!isTarget(what)) return resourceFor(what, 'list');
  const { resource, id, link } = parseTarget(what);
  const child = link && childOf(link);
  const isRelated =
    child !== undefined && Object.hasOwn(relationsOf(resourceFor(child, 'list')), resource.name);
  const linked = `${resource.name} has ${id}`;
  const where = shellWord(condition === undefined ? linked : `${linked} and (${condition})`);
  throw usageError(
    `${what} is a list of links, and a query needs a resource.`,
    isRelated ? `use ${child} --where ${where} instead.` : 'use a resource such as contacts.',
  );
}

/** The response to a query or count, which writes nothing. */
export async function askQuery(
  client: Client,
  resource: Resource,
  verb: 'query' | 'count',
  body: Data,
): Promise<ApiResponse> {
  try {
    return await client.request('POST', `${resourcePath(resource)}/${verb}`, { body, idempotencyKey: null });
  } catch (error) {
    if (!isRefusal(error, 405)) throw error;
    throw new CliError(`This server is too old to ${verb} records.`, {
      nextSteps: ['upgrade the server, or use crm list with --filter.'],
      cause: error,
    });
  }
}
