// `crm link` and `crm unlink`: connect records through sub-resources and associations.
import type { Command } from 'commander';
import type { Data } from '../../db/model/json.ts';
import { isMixed } from '../../db/model/links.ts';
import type { Link } from '../../db/model/resource.ts';
import { bodyFromPairs } from '../api/body.ts';
import { targetColumns } from '../api/column-layout.ts';
import { connect } from '../api/connect.ts';
import { recordOf } from '../api/envelope.ts';
import { idSegment, parseTarget, type Target } from '../api/target.ts';
import { usageError } from '../errors.ts';
import { type Config, resolveConfig } from '../settings/config.ts';
import { printRecord } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';

const EXAMPLES = `
Examples:
  crm link deals/ID/contacts CONTACT supervisor=CONTACT
  crm link notes/ID/records CHILD record_type=company
  crm link segments/ID/members CHILD
  crm link meetings/ID/deal DEAL`;

/** Adds `crm link` and `crm unlink`. */
export function registerLinkCommands(program: Command): void {
  program
    .command('link')
    .summary('Link a record to another')
    .description('Link a record to another. If the two are already linked, nothing changes.')
    .argument('<target>', 'Such as deals/ID/contacts, notes/ID/records or meetings/ID/deal')
    .argument('<child>', 'ID of the record to link')
    .argument('[field=value...]', 'Fields of the link, such as supervisor or record_type')
    .addHelpText('after', EXAMPLES)
    .action((target: string, child: string, pairs: string[], _options: unknown, command: Command) =>
      runLink(target, child, pairs, resolveConfig(command)),
    );
  program
    .command('unlink')
    .summary('Remove a link')
    .description('Remove a link, or the association of a meeting. The records themselves are kept.')
    .argument('<target>', 'Such as deals/ID/contacts or meetings/ID/deal')
    .argument('[child]', 'ID of the linked record; leave it out for an association')
    .action((target: string, child: string | undefined, _options: unknown, command: Command) =>
      runUnlink(target, child, resolveConfig(command)),
    );
}

async function runLink(text: string, child: string, pairs: string[], config: Config): Promise<void> {
  const target = await parseTarget(text);
  const body = linkBody(target, child, pairs);
  const client = await connect(config);
  const response = await client.request(target.link === undefined ? 'PUT' : 'POST', target.path, { body });
  await printRecord(config, recordOf(response), await targetColumns(target));
}

function linkBody(target: Target, child: string, pairs: string[]): Data {
  const { link, association } = target;
  if (link !== undefined) return { ...ownFields(link, pairs), [link.childColumn]: child };
  if (pairs.length > 0) throw usageError(`An association does not have fields.`, 'remove field=value.');
  return { [association?.column ?? '']: child };
}

function ownFields(link: Link, pairs: string[]): Data {
  const body = bodyFromPairs(pairs, link.fields);
  const types = Object.keys(link.children);
  if (!isMixed(link) || types.includes(String(body.record_type))) return body;
  throw usageError('The type of the record to link is missing.', `add record_type=${types.join('|')}.`);
}

async function runUnlink(text: string, child: string | undefined, config: Config): Promise<void> {
  const target = await parseTarget(text);
  if (target.link !== undefined && child === undefined) {
    throw usageError('The ID of the linked record is missing.', `run: crm unlink ${text} CHILD`);
  }
  if (target.link === undefined && child !== undefined) {
    throw usageError(`${text} is a single association and does not take an ID.`, `run: crm unlink ${text}`);
  }
  const path = child === undefined ? target.path : `${target.path}/${idSegment(child)}`;
  await (await connect(config)).request('DELETE', path);
  note(child === undefined ? `Cleared ${text}.` : `Unlinked ${child} from ${text}.`);
}
