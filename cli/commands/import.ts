// `crm import`: brings a file of records in, or everything that `crm export all` wrote.
import type { Command } from 'commander';
import {
  addImportFlags,
  type ImportFlags,
  readImportFlags,
  refuseContradictions,
  refuseFlagsOfOneFile,
} from '../import/flags.ts';
import { type Config, resolveConfig } from '../settings/config.ts';

/** What the help says of columns that exports have several of for one field: their order, which the declarations set. */
export const COLUMN_ORDERS = `\
  contacts    title: Job Title, Organization Title, Title, Position, Role
              email: Email, Work Email, Business Email, Primary Email, Email Address, E-mail 1 - Value
              phone: Phone, Work Phone, Business Phone, Primary Phone, Phone Number, Telephone
              personal_phone: Mobile Phone, Mobile, Cell Phone, Home Phone
              company: Company, Company Domain, Company Name, Organization, Associated Company, Account Name, Account
  companies   domain: Domain, Company Domain, Website URL, Website
              city: City, Business City, Billing City (state and country alike)
  deals       name: Name, Deal Name, Opportunity Name, Title
              estimated_close_date: Estimated Close Date, Expected Close Date, Close Date`;

const HELP = `
Columns are matched to fields by name, whatever case, spaces and punctuation; the names that HubSpot, Google, Outlook,
Salesforce and Pipedrive use are known. "company" (domain or name), "pipeline", "stage" and "contact" (email) are looked
up and become ids. A column that is not known is refused unless it is mapped, left out (one with "-", all of them with
--ignore-unknown), or kept with --custom; so is a column of ids that has none of this service.

  --map 'Company Name=name'              a field, or company, pipeline, stage, contact
  --map 'Score=custom.score'             a field of your own; its values stay text
  --map 'Fax=-'                          leaves the column out
  --map 'revenue=estimated_revenue*1000000'   numbers in millions
  --map-value 'deal_stage:Engaging=Discovery' replaces one value of a column
  --map-file map.json                    {"Company Name": "name",
                                          "deal_stage": {"field": "stage", "values": {"Engaging": "Discovery"}}}
  --set 'stage=Discovery'                the same value in every row
  --suggest-map                          prints what --map-file takes, and sends nothing

Several columns of one field need --custom: the first that a row fills is taken, the others are kept as custom fields.
First comes --set, then --map, then the field's own name, then work before plain and mobile before home; so of
${COLUMN_ORDERS}
A contact cell without an email, and an owner cell that is no id, goes to custom with --custom, else rejects the row.

Values: an empty cell is no value; yes/no, true/false and 1/0 are booleans. Emails may be several in a cell, with names:
"Ada (a@x.example)", "a@x.example ::: b@x.example"; the first is the email, the others go to alt_emails. A number may
have a currency sign and separators of thousands; its column tells whether a comma is one or the decimal mark, or
--decimal-comma does. Dates are ISO or Unix milliseconds; slashed ones, and digits that may count days or seconds, need
--date-format where the file does not tell. A time without a zone is UTC. "Won" and "Lost" also mean the only stage of
that type. Text, and everything under custom.*, stays exactly as it is in the file.

A file is UTF-8, or what its byte order mark or --encoding says. Of vCards (.vcf) pictures and sounds are left out.

Rows are sent in batches; the journal FILE.crm-journal remembers those that are in, so that running the same command
again goes on where it stopped. Rejected rows go to FILE.errors.csv (or .ndjson) with the reason: correct them there and
import that file. Rows with the same email or domain keep their order, however many batches are sent at once.
--on-duplicate update keeps a contact's primary email where it has the row's as an alternative, and adds to alt_emails.
--dry-run asks about owners by items that the server is certain to refuse; nothing is written.

"crm import all FOLDER" takes what "crm export all" has finished, file by file as it was exported, ties it together as it
was under new ids, and keeps its journal beside the folder. References to users stay where the organization has them.
When records were created, changed, closed and done is the time of the import. Interactions whose contact was deleted are
kept in a file beside, and others come in with their main contact alone. "crm migrate" copies a database exactly.

Examples:
  crm import companies accounts.csv --map 'revenue=estimated_revenue*1000000' --custom
  crm import deals sales.csv --map 'opportunity_id=name' --map-value 'deal_stage:Engaging=Discovery' --custom --create-missing
  crm import contacts hubspot.csv --custom --create-missing
  crm import contacts outlook.csv --encoding windows-1252 --custom --create-missing
  crm import contacts people.vcf --ignore-unknown
  crm import contacts people.csv --dry-run
  cat people.ndjson | crm import contacts -
  crm import all backup-folder`;

/** Adds `crm import`. */
export function registerImportCommand(program: Command): void {
  const command = program
    .command('import')
    .summary('bring records in from CSV, JSON, NDJSON or vCards')
    .description(
      'Import the records of one resource from a file, or all that "crm export all" wrote to a folder.',
    )
    .argument(
      '<resource>',
      'companies, contacts, pipelines, deals, tasks, notes, segments, interactions, or all',
    )
    .argument('<file>', 'a file, - for standard input, or with "all" a folder')
    .addHelpText('after', HELP)
    .action((resource: string, input: string, options: Record<string, unknown>, command: Command) =>
      run(resource, input, readImportFlags(options), resolveConfig(command)),
    );
  addImportFlags(command);
}

async function run(resource: string, input: string, flags: ImportFlags, config: Config): Promise<void> {
  const request = { resource, input, ...flags };
  refuseContradictions(flags);
  const { reportAll, reportImport } = await import('../import/summary.ts');
  if (resource === 'all') {
    refuseFlagsOfOneFile(flags);
    const { importAll } = await import('../import/all/import-all.ts');
    return reportAll(await importAll(request, config), request, config);
  }
  const { runImport, suggestMap } = await import('../import/import-file.ts');
  if (flags.suggestMap) return suggestMap(request);
  await reportImport(await runImport(request, config), request, config);
}
