// `crm import`: brings a file of records in, or everything that `crm export all` wrote.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { usageError } from '../errors.ts';
import type { DateFormat } from '../import/plan/dates.ts';
import type { ImportRequest, OnDuplicate } from '../import/request.ts';
import type { Format } from '../import/row.ts';
import { type Config, resolveConfig } from '../settings/config.ts';
import { collect, count } from '../settings/options.ts';

interface Options {
  format?: Format;
  map?: string[];
  mapFile?: string;
  mapValue?: string[];
  set?: string[];
  custom?: boolean;
  dryRun?: boolean;
  errors?: string;
  onDuplicate: OnDuplicate;
  batchSize: number;
  dateFormat?: DateFormat;
  createMissing?: boolean;
  concurrency: number;
  stopAfter?: number;
  resume: boolean;
  yes?: boolean;
  quiet?: boolean;
}

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
again goes on where it stopped. Rejected rows go to FILE.errors.csv (or .ndjson) with the reason: correct them there and
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
  program
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
    .addOption(
      new Option('--format <format>', 'of the input (default: by its name, or its first character)').choices([
        'csv',
        'json',
        'ndjson',
      ]),
    )
    .option('--map <header=field>', 'what a column means; repeatable', collect)
    .option('--map-file <file>', 'JSON object of such mappings')
    .option('--map-value <header:value=new>', 'replaces a value of a column; repeatable', collect)
    .option('--set <field=value>', 'a value for every row; repeatable', collect)
    .option('--custom', 'keep unknown columns as custom.*')
    .option('--dry-run', 'check everything, write nothing')
    .option('--errors <file>', 'where rejected rows go (default: FILE.errors.csv or .ndjson)')
    .addOption(
      new Option('--on-duplicate <what>', 'when an email or domain is there already')
        .choices(['skip', 'update', 'fail'])
        .default('fail'),
    )
    .addOption(new Option('--batch-size <n>', 'rows in a request').argParser(upTo(100)).default(100))
    .addOption(
      new Option('--date-format <format>', 'how slashed dates, or plain digits, are read').choices([
        'iso',
        'mdy',
        'dmy',
        'unix-ms',
      ]),
    )
    .option('--create-missing', 'create companies that are not found')
    .addOption(new Option('--concurrency <n>', 'requests at once').argParser(upTo(32)).default(4))
    .addOption(new Option('--stop-after <n>', 'stop after so many rejected rows').argParser(count))
    .option('--no-resume', 'start afresh, with new idempotency keys')
    .option('--yes', 'do not ask whether rows of unknown fate are to be sent again')
    .option('--quiet', 'say nothing but errors')
    .addHelpText('after', HELP)
    .action((resource: string, file: string, options: Options, command: Command) =>
      run(resource, file, options, resolveConfig(command)),
    );
}

function upTo(maximum: number): (value: string) => number {
  return (value) => {
    const number = count(value);
    if (number > maximum) throw new InvalidArgumentError(`Give a whole number from 1 to ${maximum}.`);
    return number;
  };
}

async function run(resource: string, file: string, options: Options, config: Config): Promise<void> {
  const request = requestOf(resource, file, options);
  const { reportAll, reportImport } = await import('../import/summary.ts');
  if (resource === 'all') {
    refuseForAll(options);
    const { importAll } = await import('../import/all/import-all.ts');
    return reportAll(await importAll(request, config), request, config);
  }
  const { runImport } = await import('../import/import-file.ts');
  await reportImport(await runImport(request, config), request, config);
}

/** The folder says itself what its files mean. */
function refuseForAll(options: Options): void {
  const given = Object.entries({
    '--format': options.format,
    '--map': options.map,
    '--map-file': options.mapFile,
    '--map-value': options.mapValue,
    '--set': options.set,
    '--custom': options.custom,
    '--dry-run': options.dryRun,
    '--errors': options.errors,
    '--date-format': options.dateFormat,
    '--create-missing': options.createMissing,
    '--stop-after': options.stopAfter,
  }).flatMap(([flag, value]) => (value ? [flag] : []));
  if (given.length === 0) return;
  throw usageError(
    `"crm import all" takes no ${given.join(' and no ')}.`,
    'it takes --on-duplicate, --batch-size, --concurrency, --no-resume, --yes and --quiet; for more, import the files one by one.',
  );
}

function requestOf(resource: string, input: string, options: Options): ImportRequest {
  const { map = [], mapFile, mapValue = [], set = [], onDuplicate, batchSize, concurrency } = options;
  return {
    resource,
    input,
    format: options.format ?? null,
    map,
    mapValue,
    set,
    ...(mapFile !== undefined && { mapFile }),
    custom: options.custom ?? false,
    dateFormat: options.dateFormat ?? null,
    isDryRun: options.dryRun ?? false,
    errors: options.errors ?? null,
    onDuplicate,
    batchSize,
    concurrency,
    createMissing: options.createMissing ?? false,
    stopAfter: options.stopAfter ?? null,
    isResumeWanted: options.resume,
    isConfirmed: options.yes ?? false,
    isQuiet: options.quiet ?? false,
  };
}
