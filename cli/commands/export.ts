// `crm export`: writes a resource, or everything, to files or stdout.
import { statSync } from 'node:fs';
import { type Command, Option } from 'commander';
import type { Client, ClientOptions } from '../api/client.ts';
import { connect } from '../api/connect.ts';
import { listRequest } from '../api/list-request.ts';
import { isRefusal, usageError, withStep } from '../errors.ts';
import type { ExportFormat } from '../export/write-file.ts';
import { type Config, resolveConfig } from '../settings/config.ts';
import { apiOption, collect } from '../settings/options.ts';
import { counted } from '../terminal/format.ts';
import { unlessInterrupted } from '../terminal/interrupt.ts';
import { parseFields } from '../terminal/output.ts';
import { startProgress } from '../terminal/progress.ts';
import type { ProgressState } from '../terminal/snapshot.ts';

interface Options {
  format?: ExportFormat;
  out?: string;
  filter?: string[];
  fields?: string;
  excelSafe?: boolean;
  resume?: boolean;
  api: 'v1' | 'v2';
}

/** Adds `crm export`. */
export function registerExportCommand(program: Command): void {
  program
    .command('export')
    .summary('write records to a file, or everything to a folder')
    .description(
      'Write all records of a resource to a file or stdout, or with "all" every resource and links.ndjson to a folder.',
    )
    .argument('<resource>', 'contacts, companies, deals, …, or all')
    .addOption(
      new Option('--format <format>', 'by the name in --out unless said, else ndjson').choices([
        'csv',
        'ndjson',
        'json',
      ]),
    )
    .option('--out <file>', 'file to write, or folder for all; it appears when it is whole')
    .option('--filter <key=value>', 'only records that match; repeatable', collect)
    .option('--fields <a,b>', 'only these fields; custom.key for your own')
    .option('--excel-safe', 'escape CSV cells that a spreadsheet would run')
    .option('--resume', 'go on where an interrupted export to the same file left off')
    .addOption(apiOption())
    .addHelpText(
      'after',
      '\nExamples:\n  crm export contacts --out contacts.csv\n  crm export all --out backup',
    )
    .action((resource: string, options: Options, command: Command) => {
      const config = resolveConfig(command);
      return resource === 'all' ? runExportAll(options, config) : runExport(resource, options, config);
    });
}

async function runExport(what: string, options: Options, config: Config): Promise<void> {
  const { out = null } = options;
  const format = exportFormat(options, config);
  if (options.resume && out === null) throw usageError('--resume needs a file.', 'name it with --out FILE.');
  if (out !== null && isFolder(out)) throw usageError(`${out} is a folder.`, 'name a file in --out.');
  const order = options.api === 'v2' && !what.includes('/') ? { sortDirection: 'asc' } : {};
  const list = await listRequest(what, { ...options, ...order });
  const known = list.look.allFields.length > 0 ? list.look.allFields : undefined;
  const fields = parseFields(options.fields, known);
  const look = { ...list.look, fields, isExcelSafe: options.excelSafe ?? false };
  const { exportToFile, exportToStdout } = await import('../export/export-resource.ts');
  await withProgress(`Exporting ${list.name}`, out, config, async (client, update) => {
    const job = { client, list, look, format, onProgress: (done: number) => update({ done }) };
    if (out === null) return `Exported ${counted(await exportToStdout(job), 'record')}.`;
    const { Spool } = await import('../export/spool.ts');
    const subject = JSON.stringify([config.url, options.api, list.name, options.filter]);
    const spool = await Spool.open(`${out}.crm-part`, subject, options.resume ?? false);
    return `Exported ${counted(await exportToFile(job, out, spool), 'record')} to ${out}.`;
  });
}

async function runExportAll(options: Options, config: Config): Promise<void> {
  const { out } = options;
  if (out === undefined) throw usageError('"all" needs a folder.', 'name it with --out DIR.');
  if (options.fields !== undefined || options.filter !== undefined || options.api === 'v1') {
    throw usageError(
      '"all" takes no --fields, no --filter and no --api v1.',
      'export one resource with them.',
    );
  }
  const format = options.format ?? 'ndjson';
  if (format === 'json') throw usageError('"all" writes NDJSON or CSV.', 'use --format ndjson or csv.');
  const { exportAll } = await import('../export/export-all.ts');
  await withProgress('Exporting', out, config, async (client, update) => {
    const files: string[] = [];
    const total = await exportAll({
      client,
      folder: out,
      format,
      isExcelSafe: options.excelSafe ?? false,
      isResumed: options.resume ?? false,
      subject: JSON.stringify([config.url, format]),
      onProgress: update,
      onFile: (path, lines) => files.push(`${path}: ${counted(lines, 'line')}`),
    });
    return [...files, `Exported ${counted(total, 'record')} to ${out}.`].join('\n');
  });
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function exportFormat(options: Options, config: Config): ExportFormat {
  if (options.format !== undefined) return options.format;
  const extension = /\.(csv|ndjson|jsonl|json)$/i.exec(options.out ?? '')?.[1]?.toLowerCase();
  if (extension !== undefined) return extension === 'jsonl' ? 'ndjson' : (extension as ExportFormat);
  const isTable = !config.isOutputGiven || config.output === 'table';
  return isTable ? 'ndjson' : (config.output as ExportFormat);
}

/** Runs an export with its progress on stderr, and says how to go on if it breaks off. */
async function withProgress(
  label: string,
  out: string | null,
  config: Config,
  job: (client: Client, update: (state: ProgressState) => void) => Promise<string>,
): Promise<void> {
  // Data and progress would run into each other on one terminal.
  const quiet = out === null && Boolean(process.stdout.isTTY);
  let latest: ProgressState = { done: 0 };
  let progress: Awaited<ReturnType<typeof startProgress>> | undefined;
  const update = (state: ProgressState): void => {
    latest = state;
    progress?.update(state);
  };
  const onWait: ClientOptions['onWait'] = ({ seconds, reason }) =>
    progress?.update({ ...latest, note: `${reason}: waiting ${Math.ceil(seconds)} s` });
  const client = await connect(config, onWait);
  progress = await startProgress({ label, unit: 'records', total: null, quiet });
  try {
    const summary = await unlessInterrupted(job(client, update), () => ({
      message: `Interrupted after ${counted(latest.done, 'record')}.`,
      nextSteps: out === null || latest.done === 0 ? ['run the same command again.'] : [],
    }));
    await progress.stop(summary);
  } catch (error) {
    await progress.stop();
    throw out === null || latest.done === 0 ? error : withResumeHint(error);
  }
}

function withResumeHint(error: unknown): unknown {
  return withStep(
    error,
    isRefusal(error, 422)
      ? 'start afresh, without --resume.'
      : 'add --resume to the same command to go on from here.',
  );
}
