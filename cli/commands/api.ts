// `crm api`: sends any request, with the key, the retries and the limits of all other data commands.
import type { Command } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';
import { collect } from '../settings/options.ts';

const HELP = `
A path without "/api" is one of version 2: contacts/ID means /api/v2/contacts/ID. The fields of GET and DELETE become
query parameters, those of other methods a JSON object; name[key]=value sets a value of an object in it, and name[]=value
adds to a list. On a terminal, the response is indented; in a pipe, it is printed as the server sent it.

Examples:
  crm api contacts
  crm api GET 'deals?status=open' --paginate | jq -r '.data[].name'
  crm api POST contacts -f email=ada@example.com -f custom[plan]=navy
  crm api PATCH deals/ID -F estimated_value=48000 -H 'If-Match: "2026-11-24T09:00:00.000Z"'
  crm api POST deals/query -d @query.json --paginate
  crm api DELETE notes/ID --include`;

/** Adds `crm api`. */
export function registerApiCommand(program: Command): void {
  program
    .command('api')
    .summary('Send any request to the API')
    .description(
      'Send a request to the API and print the response. Waits for rate limits and repeats what failed, like all commands.',
    )
    .usage('[options] [method] <path>')
    .argument('<method>', 'GET, POST, PATCH, PUT or DELETE (default: GET, or POST with a body)')
    .argument('[path]', 'Path of the request, such as contacts, deals/ID or /api/v1/people/query')
    .option('-d, --data <json>', 'Body of the request: JSON, @FILE, or - for standard input')
    .option('-f, --raw-field <key=value>', 'Field with a text value; repeatable', collect)
    .option(
      '-F, --field <key=value>',
      'Field with a value of its own type: true, false, null, a number, or the text of @FILE; repeatable',
      collect,
    )
    .option('-H, --header <name: value>', 'Header of the request; repeatable', collect)
    .option('--paginate', 'Also request all further pages, and print one after the other')
    .option('-i, --include', 'Also print the status and the headers of the response')
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('../raw/run.ts')).runApi));
}
