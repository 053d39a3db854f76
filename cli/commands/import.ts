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

const HELP = `
Columns are matched to fields by name, whatever case, spaces and punctuation; the names that HubSpot, Google, Outlook,
Salesforce and Pipedrive use are known. "company" (domain or name), "pipeline", "stage" and "contact" (email) are looked
up and become ids. A column that is not known is refused unless it is mapped, left out, or kept with --custom.

  --map 'Company Name=name'              a field, or company, pipeline, stage, contact
  --map 'Score=custom.score'             a field of your own; its values stay text
  --map 'Fax=-'                          leaves the column out
  --map 'revenue=estimated_revenue*1000000'   numbers in millions
  --map-value 'deal_stage:Engaging=Discovery' replaces one value of a column
  --map-file map.json                    {"Company Name": "name",
                                          "deal_stage": {"field": "stage", "values": {"Engaging": "Discovery"}}}
  --set 'stage=Discovery'                the same value in every row

Values: an empty cell is no value. Numbers have a decimal point and no separators of thousands; yes/no, true/false and
1/0 are booleans; several emails are separated by , or ;. A time without a zone is UTC. "Won" and "Lost" also mean the
only stage of that type. Text, and everything under custom.*, stays exactly as it is in the file.

Rows are sent in batches; the journal FILE.crm-journal remembers those that are in, so that running the same command
again goes on where it stopped. Run again once finished it does nothing, or with another --on-duplicate, --create-missing
or --map-value sends the rejected rows again. A file that has changed, or another mapping, is refused. Rejected rows go to FILE.errors.csv (or .ndjson) with the reason: correct them there and
import that file. Rows with the same email or domain keep their order, however many batches are sent at once.
--on-duplicate update keeps a contact's primary email where it has the row's as an alternative, and adds to alt_emails.

Examples:
  crm import companies accounts.csv --map 'revenue=estimated_revenue*1000000' --custom
  crm import deals sales.csv --map 'opportunity_id=name' --map-value 'deal_stage:Engaging=Discovery' --custom --create-missing
  crm import contacts people.csv --dry-run
  cat people.ndjson | crm import contacts -
  crm import all backup-folder`;

/** Adds `crm import`. */
export function registerImportCommand(program: Command): void {
  const command = program
    .command('import')
    .summary('bring records in from CSV, JSON or NDJSON')
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
