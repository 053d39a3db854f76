// `crm export`: writes a resource, or everything, to files or stdout.
import { type Command, Option } from 'commander';
import type { Client } from '../api/client.ts';
import { connect } from '../api/connect.ts';
import { listRequest } from '../api/list-request.ts';
import { isRefusal, usageError, withStep } from '../errors.ts';
import type { ExportDisplay } from '../export/display.ts';
import { chooseExportFormat } from '../export/format.ts';
import type { ExportFormat } from '../export/write-file.ts';
import { sha256 } from '../files/digest.ts';
import { checkOutputPath, createParentFolder } from '../files/output-path.ts';
import { type Config, resolveConfig } from '../settings/config.ts';
import { apiOption, collect } from '../settings/options.ts';
import { counted } from '../terminal/format.ts';
import { unlessInterrupted } from '../terminal/interrupt.ts';
import { parseFields } from '../terminal/output.ts';

interface Options {
  format?: ExportFormat;
  out?: string;
  filter?: string[];
  fields?: string;
  excelSafe?: boolean;
  resume?: boolean;
  force?: boolean;
  api: 'v1' | 'v2';
}

/** Adds `crm export`. */
export function registerExportCommand(program: Command): void {
  program
    .command('export')
    .summary('Export records to a file, or all data to a folder')
    .description('Export the records of a resource to a file or stdout, or with "all" everything to a folder')
    .argument('<resource>', 'One of contacts, companies, deals, …, or all')
    .addOption(
      new Option('--format <format>', 'Format (default: from the extension of --out, else ndjson)').choices([
        'csv',
        'ndjson',
        'json',
      ]),
    )
    .option('--out <file>', 'File to write, or new folder with "all"; appears once it is complete')
    .option('--filter <key=value>', 'Only records that match; repeatable', collect)
    .option('--fields <a,b>', 'Only these fields; custom.key for custom fields')
    .option('--excel-safe', 'Escape CSV cells that a spreadsheet would run as formulas')
    .option('--force', 'Overwrite an existing file')
    .option('--resume', 'Continue an interrupted export to the same place')
    .addOption(apiOption())
    .addHelpText('after', '\nSee "crm help export".')
    .action((resource: string, options: Options, command: Command) => {
      const config = resolveConfig(command);
      return resource === 'all' ? runExportAll(options, config) : runExport(resource, options, config);
    });
}

async function runExport(what: string, options: Options, config: Config): Promise<void> {
  const { out = null } = options;
  const format = chooseExportFormat(options, config);
  for (const flag of ['resume', 'force'] as const) {
    if (options[flag] && out === null) throw usageError(`--${flag} needs an output file.`, 'add --out FILE.');
  }
  if (out !== null) checkOutputPath(out, options.force ?? false);
  const order = options.api === 'v2' && !what.includes('/') ? { sortDirection: 'asc' } : {};
  const list = await listRequest(what, { ...options, ...order });
  const known = list.look.allFields.length > 0 ? list.look.allFields : undefined;
  const fields = parseFields(options.fields, known);
  const look = { ...list.look, fields, isExcelSafe: options.excelSafe ?? false };
  const { exportToFile, exportToStdout } = await import('../export/export-resource.ts');
  if (out !== null) {
    createParentFolder(out);
    await lockPlace(out);
  }
  await withDisplay(out, config, async ({ client, display, keyDigest }) => {
    const job = { client, list, look, format, onPage: display.followRecords(client, list) };
    if (out === null) return display.stop(`Exported ${counted(await exportToStdout(job), 'record')}.`);
    const { Spool } = await import('../export/spool.ts');
    const subject = JSON.stringify([config.url, keyDigest, options.api, list.name, options.filter]);
    const spool = Spool.open(`${out}.crm-part`, subject, options.resume ?? false);
    await display.stop(`Exported ${counted(await exportToFile(job, out, spool), 'record')} to ${out}.`);
  });
}

async function runExportAll(options: Options, config: Config): Promise<void> {
  const { out, format = 'ndjson' } = options;
  if (out === undefined) throw usageError('"all" needs an output folder.', 'add --out DIR.');
  if (options.fields !== undefined || options.filter !== undefined || options.api === 'v1') {
    throw usageError(
      '"all" does not work with --fields, --filter or --api v1.',
      'remove them, or export a single resource.',
    );
  }
  if (options.force)
    throw usageError(
      '"all" does not work with --force: it never writes into a folder that is not empty.',
      'choose a new folder.',
    );
  if (format === 'json')
    throw usageError('"all" writes NDJSON or CSV only.', 'use --format ndjson or --format csv.');
  const { targetFolder } = await import('../export/part-folder.ts');
  const target = targetFolder(out);
  const { exportAll } = await import('../export/export-all.ts');
  await lockPlace(target);
  await withDisplay(out, config, async ({ client, display, keyDigest }) => {
    const total = await exportAll({
      ...{ client, display, target, format, url: config.url },
      isExcelSafe: options.excelSafe ?? false,
      isResumed: options.resume ?? false,
      subject: JSON.stringify([config.url, keyDigest, 'all']),
    });
    await display.stop(`Exported ${counted(total, 'record')} to ${out}.`);
  });
}

/** Keeps other exports to the same place out until the process ends; otherwise two would share one temporary file. */
async function lockPlace(out: string): Promise<void> {
  const { lockBeside, lockWork } = await import('../files/work-lock.ts');
  const release = lockWork({
    path: lockBeside(out),
    refusal: `is exporting to ${out}`,
    nextSteps: ['wait until it ends, or choose another place with --out.'],
  });
  process.once('exit', release);
}

interface Work {
  client: Client;
  display: ExportDisplay;
  /** Identifies the key, so that --resume never mixes two organizations. */
  keyDigest: string;
}

/** Runs an export with its progress on stderr, and says how to continue if it is interrupted. */
async function withDisplay(
  out: string | null,
  config: Config,
  job: (work: Work) => Promise<void>,
): Promise<void> {
  const { ExportDisplay } = await import('../export/display.ts');
  // Data and progress would mix on one terminal.
  const display = new ExportDisplay(out === null && Boolean(process.stdout.isTTY));
  const apiKey = await config.apiKey();
  // The server's audit log shows who exports what.
  const purpose = ` (export; ${crypto.randomUUID()})`;
  const client = await connect({ url: config.url, apiKey: async () => apiKey }, display.onWait, purpose);
  try {
    await unlessInterrupted(job({ client, display, keyDigest: sha256(apiKey) }), () => ({
      message: `Interrupted after ${counted(display.records, 'record')}.`,
      nextSteps: out === null || display.records === 0 ? ['run the same command again.'] : [],
    }));
  } catch (error) {
    await display.remove();
    throw out === null || display.records === 0 ? error : withResumeHint(error);
  }
}

function withResumeHint(error: unknown): unknown {
  return withStep(
    error,
    isRefusal(error, 422)
      ? 'run the same command without --resume to start over.'
      : 'add --resume to the same command to continue from here.',
  );
}
