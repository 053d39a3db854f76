// The whole ID for what people write in its place: a short ID, or the beginning of an ID.
import type { Data } from '../../db/model/json.ts';
import { findResource } from '../../db/model/resources/registry.ts';
import { singularOf } from '../../db/model/text.ts';
import { CliError, usageError } from '../errors.ts';
import { idRangeOf, type MeantIds, shortIdOf } from '../input/short-id.ts';
import { neutralizeLine } from '../terminal/text.ts';
import type { Client } from './client.ts';
import { commandForIds } from './ids.ts';
import { listAt } from './pages.ts';
import { nameOf } from './record-name.ts';

// A millisecond has at most the records of a batch, and a longer range more than anyone chooses from.
const RECORDS_MAX = 200;
const CANDIDATES_MAX = 10;

/** The ID that a text means among the records of a resource: one request for a short ID, none for anything else. */
export async function wholeId(client: Client, resource: string, text: string): Promise<string> {
  const range = idRangeOf(text);
  if (range === undefined || findResource(resource) === undefined) return text;
  const [record, ...others] = await recordsIn(client, resource, range);
  if (record === undefined) throw notFound(resource, text);
  if (others.length > 0) throw notCertain(resource, text, [record, ...others]);
  return String(record.id);
}

/** The records of a resource whose IDs are in the range; of a long range, more than one if there are. */
export async function recordsIn(client: Client, resource: string, range: MeantIds): Promise<Data[]> {
  const { fromMs, untilMs, has } = range;
  const limit = fromMs === untilMs ? RECORDS_MAX : CANDIDATES_MAX + 1;
  // The time in an ID is that of created_at.
  const query = { created_since: String(fromMs), sort_by: 'created_at', sort_direction: 'asc' };
  const { records } = await listAt(`/api/v2/${resource}`, query).page(client, null, limit);
  return records.filter(({ id }) => has(String(id)));
}

function notFound(resource: string, text: string): CliError {
  const canBeDeleted = findResource(resource)?.verbs.includes('delete') === true;
  return new CliError(`There is no ${singularOf(resource)} with the ID "${text}".`, {
    nextSteps: [
      `${commandForIds(resource)}   (lists the IDs)`,
      ...(canBeDeleted ? [`if it was deleted: crm undelete ${resource} ${text}`] : []),
    ],
  });
}

/** The error for a text that several IDs begin with. */
export function notCertain(resource: string, text: string, records: readonly Data[]): CliError {
  return usageError(
    `The IDs of several ${resource} begin with "${text}":\n${candidateLines(records)}`,
    'use the short ID or the whole ID of one of them.',
  );
}

/** Records to choose one from: short ID, ID and name of each. */
export function candidateLines(records: readonly Data[]): string {
  const lines = records.slice(0, CANDIDATES_MAX).map((record) => {
    const id = String(record.id);
    return `  ${shortIdOf(id)}  ${id}  ${neutralizeLine(nameOf(record) ?? '')}`.trimEnd();
  });
  return [...lines, ...(records.length > CANDIDATES_MAX ? ['  …'] : [])].join('\n');
}
