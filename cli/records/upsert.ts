// Carries out `crm upsert`: updates the record that is found by an external ID, email or domain, or creates one.
import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { matchNames } from '../../db/model/upserts.ts';
import { createFields, jsonObject } from '../api/body.ts';
import type { RequestOptions } from '../api/client.ts';
import { resourceColumns } from '../api/column-layout.ts';
import { connect } from '../api/connect.ts';
import { recordOf } from '../api/envelope.ts';
import { externalIdOf } from '../api/external-id.ts';
import { IdFinder } from '../api/id-finder.ts';
import { resourceFor, resourcePath } from '../api/target.ts';
import { givenValues } from '../api/values.ts';
import { isRefusal, usageError, withSteps } from '../errors.ts';
import { didYouMean } from '../nearest.ts';
import type { Config } from '../settings/config.ts';
import { withCapital } from '../terminal/format.ts';
import { printRecord } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';

export interface UpsertFlags {
  data?: string;
  externalId?: string;
  match?: string[];
  onMatch?: string;
  onMissing?: string;
  dryRun?: boolean;
}

const MISSING_STEPS = [
  'correct the values that the record is found by, or leave out --on-missing fail to create it.',
];

/** Creates or updates a record, prints it, and says which. */
export async function runUpsert(
  what: string,
  pairs: string[],
  flags: UpsertFlags,
  config: Config,
): Promise<void> {
  const resource = resourceFor(what, 'update');
  const body = await upsertBody(resource, pairs, flags);
  const { dryRun: isDryRun = false } = flags;
  const client = await connect(config);
  const path = `${resourcePath(resource)}/upsert`;
  const sent = await body(new IdFinder(client));
  const response = await client.request('POST', path, { ...sent, isDryRun }).catch((error: unknown) => {
    const isMissing = flags.onMissing === 'fail' && isRefusal(error, 404);
    throw isMissing ? withSteps(error, () => MISSING_STEPS) : error;
  });
  const record = recordOf(response);
  note(outcomeInWords(resource, record, isDryRun));
  const look = resourceColumns(resource);
  await printRecord(config, record, { ...look, allFields: [...look.allFields, 'outcome', 'matched_by'] });
}

async function upsertBody(
  resource: Resource,
  pairs: readonly string[],
  flags: UpsertFlags,
): Promise<(finder: IdFinder) => Promise<Pick<RequestOptions, 'body' | 'rawBody'>>> {
  const { data } = flags;
  const choices = choicesOf(resource, flags);
  if (data === undefined) {
    const values = givenValues(pairs, createFields(resource));
    if (!values.isEmpty || Object.keys(choices).length > 0)
      return async (finder) => ({ body: { ...(await values.found(finder)), ...choices } });
    const [example = 'name'] = resource.identifying;
    throw usageError('No values given.', `add values, like ${example}=value, or a JSON object with -d.`);
  }
  if (pairs.length > 0) throw usageError('Use either -d or field=value, not both.', 'remove one of them.');
  // The JSON stays as it is written, so that the server refuses what it has twice.
  const text = (await jsonObject(data)).trim();
  const inner = JSON.stringify(choices).slice(1, -1);
  const rest = text.slice(1).trimStart();
  const rawBody = `{${inner}${inner === '' || rest.startsWith('}') ? '' : ','}${rest}`;
  return async () => ({ rawBody });
}

/** What the flags say about matching. */
function choicesOf(resource: Resource, { externalId, match, onMatch, onMissing }: UpsertFlags): Data {
  const names = matchNames(resource);
  const unknown = match?.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw usageError(
      `${resource.name} cannot be matched by "${unknown}".${didYouMean(unknown, names)}`,
      `use ${names.map((name) => `--match ${name}`).join(' or ')}.`,
    );
  }
  return {
    ...(externalId !== undefined && { external_id: { ...externalIdOf(externalId) } }),
    ...(match !== undefined && { match }),
    ...(onMatch !== undefined && { on_match: onMatch }),
    ...(onMissing !== undefined && { on_missing: onMissing }),
  };
}

function outcomeInWords({ singular }: Resource, record: Data, isDryRun: boolean): string {
  const { id, outcome, matched_by: matchedBy } = record;
  // The ID of a record that a dry run creates does not last.
  const which = outcome === 'created' && isDryRun ? `a ${singular}` : `${singular} ${id}`;
  const done = outcome === 'unchanged' ? `left ${which} unchanged` : `${outcome} ${which}`;
  const by = matchedBy === null ? '' : ` (matched by ${matchedBy})`;
  return isDryRun ? `Would have ${done}${by}. Nothing was written.` : `${withCapital(done)}${by}.`;
}
