// Carries out `crm link` and `crm unlink`.
import type { Data } from '../../db/model/json.ts';
import { childOf, isMixed } from '../../db/model/links.ts';
import { targetColumns } from '../api/column-layout.ts';
import { connect } from '../api/connect.ts';
import { recordOf } from '../api/envelope.ts';
import { externalIdOf } from '../api/external-id.ts';
import { IdFinder } from '../api/id-finder.ts';
import { nameKindOf } from '../api/names.ts';
import { checkedId, idSegment, parseTarget, type Target, wholePath } from '../api/target.ts';
import { type GivenValues, givenValues } from '../api/values.ts';
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
  const values = linkValues(target, pairs);
  const external = isExternal(target) ? externalIdOf(child) : undefined;
  const client = await connect(config);
  const finder = new IdFinder(client);
  const path = await wholePath(target, finder);
  const own = await values.found(finder);
  const body = external ?? { ...own, [childField(target)]: await childId(target, child, own, finder) };
  const response = await client.request(target.association === undefined ? 'POST' : 'PUT', path, {
    body,
    isDryRun,
  });
  const linked = recordOf(response);
  if (isDryRun) note(NOTHING_WRITTEN);
  if (Object.entries(own).some(([name, value]) => name in linked && linked[name] !== value))
    note('The link exists already and stays as it is. To change its fields, unlink it first.');
  await printRecord(config, linked, targetColumns(target));
}

function isExternal({ link, association }: Target): boolean {
  return link === undefined && association === undefined;
}

/** The fields of the link itself. */
function linkValues(target: Target, pairs: string[]): GivenValues {
  const { link } = target;
  if (link === undefined && pairs.length > 0) {
    const kind = isExternal(target) ? 'external ID' : 'association';
    throw usageError(`An ${kind} does not have fields.`, 'remove field=value.');
  }
  const values = givenValues(pairs, link?.fields ?? {});
  const types = Object.keys(link?.children ?? {});
  const given = pairs.map((pair) => pair.replace(/^record_type=/, ''));
  if (link === undefined || !isMixed(link) || given.some((type) => types.includes(type))) return values;
  throw usageError('The type of the record to link is missing.', `add record_type=${types.join('|')}.`);
}

function childField({ link, association }: Target): string {
  return link?.childColumn ?? association?.column ?? '';
}

/** The ID of the record to link, which can be given by name; of one of several resources, if its type is known. */
async function childId(
  { resource, link, association }: Target,
  text: string,
  own: Data,
  finder: IdFinder,
): Promise<string> {
  const only =
    association === undefined ? link && childOf(link) : resource.fields[association.column]?.references;
  const child = only ?? link?.children[String(own.record_type)];
  if (child === undefined) return finder.oneOf(Object.values(link?.children ?? {}), text);
  const kind = nameKindOf(child);
  return kind === undefined ? finder.wholeId(child, text) : finder.named(kind, text);
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
  if (child !== undefined) checkedId(child);
  const client = await connect(config);
  const finder = new IdFinder(client);
  const start = await wholePath(target, finder);
  const id = child !== undefined && !isExternal(target) ? await childId(target, child, {}, finder) : child;
  const path = id === undefined ? start : `${start}/${idSegment(id)}`;
  await client.request('DELETE', path, { isDryRun });
  if (isDryRun)
    return note(
      child === undefined
        ? `Would clear ${text}. Nothing was written.`
        : `Would unlink ${child} from ${text}. Nothing was written.`,
    );
  note(child === undefined ? `Cleared ${text}.` : `Unlinked ${child} from ${text}.`);
}
