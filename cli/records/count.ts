// Carries out `crm count`: prints how many records a resource has, or how many meet a condition.
import type { Data } from '../../db/model/json.ts';
import { connect } from '../api/connect.ts';
import { recordOf, unexpectedAnswer } from '../api/envelope.ts';
import { IdFinder } from '../api/id-finder.ts';
import type { Config } from '../settings/config.ts';
import { counted } from '../terminal/format.ts';
import { printRecord } from '../terminal/output.ts';
import { note, writeOut } from '../terminal/streams.ts';
import { filterOfWhere } from '../where/filter.ts';
import { foundFilter } from '../where/names.ts';
import { askQuery, queriedResource } from '../where/query.ts';

const FIELDS = ['count', 'is_exact'];

/** Prints the number alone in a pipe, and for people what was counted. */
export async function runCount(what: string, { where }: { where?: string }, config: Config): Promise<void> {
  const resource = queriedResource(what, where);
  const condition = where === undefined ? undefined : filterOfWhere(resource, where);
  const client = await connect(config);
  const body: Data =
    condition === undefined ? {} : { filter: await foundFilter(condition, resource, new IdFinder(client)) };
  const response = await askQuery(client, resource, 'count', body);
  const result = recordOf(response);
  const { count, is_exact: isExact } = result;
  if (typeof count !== 'number' || typeof isExact !== 'boolean') throw unexpectedAnswer(response);
  if (config.output === 'table') {
    const records = counted(count, resource.singular, resource.name);
    return writeOut(`${isExact ? '' : 'at least '}${records}\n`);
  }
  if (config.isOutputGiven) return printRecord(config, result, { columns: FIELDS, allFields: FIELDS });
  await writeOut(`${count}\n`);
  if (!isExact)
    note('The server stopped counting: there are at least this many. For an exact number, add conditions.');
}
