// Carries out `crm link` and `crm unlink`.
import type { Data } from '../../db/model/json.ts';
import { isMixed } from '../../db/model/links.ts';
import type { Link } from '../../db/model/resource.ts';
import { bodyFromPairs } from '../api/body.ts';
import { targetColumns } from '../api/column-layout.ts';
import { connect } from '../api/connect.ts';
import { recordOf } from '../api/envelope.ts';
import { externalIdOf } from '../api/external-id.ts';
import { idSegment, parseTarget, type Target } from '../api/target.ts';
import { usageError } from '../errors.ts';
import type { Config } from '../settings/config.ts';
import { NOTHING_WRITTEN, printRecord } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';

/** Links a record to another and prints the link. */
export async function runLink(
  text: string,
  child: string,
  pairs: string[],
  { dryRun: isDryRun = false }: { dryRun?: boolean },
  config: Config,
): Promise<void> {
  const target = parseTarget(text);
  const body = linkBody(target, child, pairs);
  const client = await connect(config);
  const response = await client.request(target.association === undefined ? 'POST' : 'PUT', target.path, {
    body,
    isDryRun,
  });
  if (isDryRun) note(NOTHING_WRITTEN);
  await printRecord(config, recordOf(response), targetColumns(target));
}

function linkBody(target: Target, child: string, pairs: string[]): Data {
  const { link, association } = target;
  if (link !== undefined) return { ...ownFields(link, pairs), [link.childColumn]: child };
  const kind = association === undefined ? 'external ID' : 'association';
  if (pairs.length > 0) throw usageError(`An ${kind} does not have fields.`, 'remove field=value.');
  return association === undefined ? { ...externalIdOf(child) } : { [association.column]: child };
}

function ownFields(link: Link, pairs: string[]): Data {
  const body = bodyFromPairs(pairs, link.fields);
  const types = Object.keys(link.children);
  if (!isMixed(link) || types.includes(String(body.record_type))) return body;
  throw usageError('The type of the record to link is missing.', `add record_type=${types.join('|')}.`);
}

/** Removes a link or an association. */
export async function runUnlink(
  text: string,
  child: string | undefined,
  { dryRun: isDryRun = false }: { dryRun?: boolean },
  config: Config,
): Promise<void> {
  const target = parseTarget(text);
  if (target.association === undefined && child === undefined) {
    throw target.link === undefined
      ? usageError('The source of the external ID is missing.', `run: crm unlink ${text} SOURCE`)
      : usageError('The ID of the linked record is missing.', `run: crm unlink ${text} CHILD`);
  }
  if (target.association !== undefined && child !== undefined) {
    throw usageError(`${text} is a single association and does not take an ID.`, `run: crm unlink ${text}`);
  }
  const path = child === undefined ? target.path : `${target.path}/${idSegment(child)}`;
  await (await connect(config)).request('DELETE', path, { isDryRun });
  if (isDryRun)
    return note(
      child === undefined
        ? `Would clear ${text}. Nothing was written.`
        : `Would unlink ${child} from ${text}. Nothing was written.`,
    );
  note(child === undefined ? `Cleared ${text}.` : `Unlinked ${child} from ${text}.`);
}
