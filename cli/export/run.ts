// Carries out `crm export`: checks the flags, locks the place, and exports with progress.

import type { Client } from '../api/client.ts';
import { connect } from '../api/connect.ts';
import { isRefusal, usageError, withStep } from '../errors.ts';
import { sha256 } from '../files/digest.ts';
import { checkOutputPath, createParentFolder, outputFile } from '../files/output-path.ts';
import { lockBeside, lockWork } from '../files/work-lock.ts';
import type { Config } from '../settings/config.ts';
import { counted } from '../terminal/format.ts';
import { unlessInterrupted } from '../terminal/interrupt.ts';
import { parseFields } from '../terminal/output.ts';
import { stdout } from '../terminal/streams.ts';
import { recordsRequest } from '../where/records-request.ts';
import { ExportDisplay } from './display.ts';
import { exportAll } from './export-all.ts';
import { exportToFile, exportToStdout } from './export-resource.ts';
import { chooseExportFormat, isWorkbook } from './format.ts';
import { targetFolder } from './part-folder.ts';
import { Spool } from './spool.ts';
import type { ExportFormat } from './write-file.ts';

export interface ExportFlags {
  format?: ExportFormat;
  out?: string;
  filter?: string[];
  where?: string;
  fields?: string;
  excelSafe?: boolean;
  resume?: boolean;
  force?: boolean;
  api: 'v1' | 'v2';
}

/** Exports a resource, or everything for `all`. */
export async function runExport(what: string, flags: ExportFlags, config: Config): Promise<void> {
  await (what === 'all' ? exportEverything(flags, config) : exportOne(what, flags, config));
}

async function exportOne(what: string, options: ExportFlags, config: Config): Promise<void> {
  const out = outputFile(options.out);
  const format = chooseExportFormat(options, config);
  checkExcelSafe(options, format);
  for (const flag of ['resume', 'force'] as const) {
    if (options[flag] && out === null) throw usageError(`--${flag} needs an output file.`, 'add --out FILE.');
  }
  if (out !== null) checkOutputPath(out, options.force ?? false);
  const order = options.api === 'v2' && !what.includes('/') ? { sortDirection: 'asc' } : {};
  // Progress needs the time of creation.
  const asked = options.fields && `${options.fields},created_at`;
  const list = recordsRequest(what, { ...options, ...order, ...(asked && { fields: asked }) });
  const known = list.look.allFields.length > 0 ? list.look.allFields : undefined;
  const fields = parseFields(options.fields, known);
  const look = { ...list.look, fields, isExcelSafe: options.excelSafe ?? false };
  if (out !== null) {
    createParentFolder(out);
    lockPlace(out);
  }
  await withDisplay(out, config, async ({ client, display, keyDigest }) => {
    const job = { client, list, look, format, onPage: display.followRecords(client, list) };
    if (out === null) return display.stop(`Exported ${counted(await exportToStdout(job), 'record')}.`);
    const subject = JSON.stringify([config.url, keyDigest, options.api, list.name, ...partOf(options)]);
    const spool = Spool.open(`${out}.crm-part`, subject, options.resume ?? false);
    await display.stop(`Exported ${counted(await exportToFile(job, out, spool), 'record')} to ${out}.`);
  });
}

function checkExcelSafe({ excelSafe }: ExportFlags, format: ExportFormat): void {
  if (excelSafe && format !== 'csv')
    throw usageError('--excel-safe works with CSV only.', 'add --format csv, or remove --excel-safe.');
}

/** What of a list is in its spool. */
function partOf({ filter, where, fields }: ExportFlags): unknown[] {
  return where === undefined && fields === undefined ? [filter] : [filter, where, fields];
}

async function exportEverything(options: ExportFlags, config: Config): Promise<void> {
  const { format = 'ndjson' } = options;
  checkExcelSafe(options, format);
  const out = outputFile(options.out);
  if (out === null) throw usageError('"all" needs an output folder.', 'add --out DIR.');
  if (isWorkbook(out))
    throw usageError(
      `"all" writes a folder, and ${out} is the name of a file.`,
      'set --out to a folder; its files are NDJSON, or CSV with --format csv.',
    );
  if (
    [options.fields, options.filter, options.where].some((option) => option !== undefined) ||
    options.api === 'v1'
  ) {
    throw usageError(
      '"all" does not work with --fields, --filter, --where or --api v1.',
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
  const target = targetFolder(out);
  lockPlace(target);
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
function lockPlace(out: string): void {
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
  // Data and progress would mix on one terminal.
  const display = new ExportDisplay(out === null && stdout.isTTY);
  const apiKey = await config.apiKey();
  // The server's audit log shows who exports what.
  const purpose = ` (export; ${crypto.randomUUID()})`;
  const client = await connect({ url: config.url, apiKey: async () => apiKey }, display.onWait, { purpose });
  try {
    await unlessInterrupted(job({ client, display, keyDigest: sha256(apiKey) }), () => ({
      message: `Interrupted after ${counted(display.records, 'record')}.`,
      nextSteps: out === null || display.records === 0 ? ['run the same command again.'] : [],
    }));
  } catch (error) {
    await display.stop();
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
