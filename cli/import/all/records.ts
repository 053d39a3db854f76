// Imports the records of an exported folder, resource by resource, and replaces old IDs with new ones.
import { join } from 'node:path';
import type { Data } from '../../../db/model/json.ts';
import type { Resource } from '../../../db/model/resource.ts';
import { CliError } from '../../errors.ts';
import { secondsSince } from '../../input/instant.ts';
import { Evidence } from '../plan/column-evidence.ts';
import { makePlan } from '../plan/plan.ts';
import type { SurveyedInput } from '../plan/survey.ts';
import type { ImportSummary } from '../request.ts';
import { importCounts, NO_DIAGNOSIS, totalCounts } from '../request.ts';
import type { SourceRow } from '../row.ts';
import { KeyStore } from '../rows/key-store.ts';
import { idOf, isAtLevel, markLevels } from '../rows/note-levels.ts';
import { ErrorsFile, type ErrorsMark } from '../session/errors-file.ts';
import { ImportJob } from '../session/import-job.ts';
import type { RunHooks } from '../session/import-parts.ts';
import { openJournal } from '../session/resume.ts';
import { RowRun } from '../session/row-run.ts';
import { ExportedReferences } from './exported-references.ts';
import type { FolderParts, LeftOut } from './folder-job.ts';
import { FolderContacts, type InteractionsLeftOut } from './interactions.ts';
import { importPipelines } from './pipelines.ts';

/** One file of the folder. */
export interface ExportedFile {
  resource: Resource;
  path: string;
  input: SurveyedInput;
}

/** The rows of a file that are imported in one run. */
interface Part {
  /** The name of its journal. */
  name: string;
  takes: RunHooks['takes'];
  /** The result of earlier parts. */
  earlier: PartResult | null;
}

interface PartResult {
  /** Of this part and those before. */
  summary: ImportSummary;
  /** The state of the errors file, which all parts share. */
  errors: ErrorsMark | null;
}

/** What an import starts with. */
export const NOTHING_LEFT_OUT: LeftOut = {
  references_left_out: 0,
  interactions_left_out: 0,
  interactions_repeated: 0,
  left_out_file: null,
  interactions_reduced: 0,
};

/** Imports the files of one folder. */
export class RecordsImport {
  readonly #parts: FolderParts;
  readonly #contacts = new FolderContacts();
  readonly #references: ExportedReferences;
  #interactionsLeftOut: InteractionsLeftOut = NOTHING_LEFT_OUT;

  constructor(parts: FolderParts) {
    this.#parts = parts;
    this.#references = new ExportedReferences(parts.ids);
  }

  get leftOut(): LeftOut {
    return { ...this.#interactionsLeftOut, references_left_out: this.#references.leftOut };
  }

  /** Counts a reference that is left out. */
  leaveOutReference(): void {
    this.#references.leftOut += 1;
  }

  /** Imports one file. */
  async import(file: ExportedFile): Promise<ImportSummary> {
    const { name, fields } = file.resource;
    if (name === 'pipelines') return this.#pipelines(file);
    if (fields.parent_id !== undefined) return this.#tree(file);
    if (name === 'contacts') await this.#contacts.read(file.input);
    if (name === 'interactions') return this.#interactions(file);
    return (await this.#rows(file, { name, takes: () => true, earlier: null })).summary;
  }

  /** Imports the interactions that can be created again. */
  async #interactions(file: ExportedFile): Promise<ImportSummary> {
    const { path, input, resource } = file;
    const shown = (row: SourceRow): SourceRow => this.#references.row(resource, row);
    this.#interactionsLeftOut = await this.#contacts.sort(path, input, shown);
    const { interactions_left_out: gone, interactions_repeated: repeated } = this.#interactionsLeftOut;
    const rowCount = (input.rowCount ?? 0) - gone - repeated;
    const takes = (row: SourceRow): boolean => this.#contacts.has(row);
    const part = { name: resource.name, takes, earlier: null };
    const rows = async () => this.#contacts.reduced(await input.rows());
    return (await this.#rows({ ...file, input: { ...input, rowCount, rows } }, part)).summary;
  }

  close(): void {
    this.#contacts.close();
  }

  /** Imports notes in one part per level of the tree, and reports them as one. */
  async #tree(file: ExportedFile): Promise<ImportSummary> {
    const startedMs = Date.now();
    const store = new KeyStore();
    const partAt = (level: number, earlier: PartResult | null): Part => ({
      name: level === 0 ? file.resource.name : `${file.resource.name}.level-${level}`,
      takes: (row) => isAtLevel(row, level, store),
      earlier,
    });
    try {
      const levels = await markLevels(file.input.rows, store);
      return await this.#parts.reporter.together(async () => {
        let result = await this.#rows(file, partAt(0, null));
        for (let level = 1; level < levels; level += 1)
          result = await this.#rows(file, partAt(level, result));
        return { ...result.summary, seconds: secondsSince(startedMs) };
      });
    } finally {
      store.close();
    }
  }

  async #rows({ resource, path, input }: ExportedFile, part: Part): Promise<PartResult> {
    const { request, url, organizationId, apiKey, client, ids, reporter, interruption } = this.#parts;
    const { requestsPerMinute, keyId } = this.#parts;
    const { name, takes, earlier } = part;
    // Exported files use field names and plain values: nothing must be guessed.
    const survey = { ...input.survey, evidence: new Evidence() };
    const plan = makePlan(resource, survey, { ...request, dateFormat: 'unix-ms' });
    const shared = { request, input, reporter, interruption };
    const job = new ImportJob({ ...shared, resource, client, plan, hooks: this.#hooks(resource, takes) });
    const journal = await openJournal({
      ...{ beside: join(ids.folder, name), content: `${this.#parts.content}\n${name}` },
      ...{ job, url, apiKey, organizationId, request, isPart: true },
    });
    const errorsFile = new ErrorsFile({
      ...{ path: null, input: path, format: input.format, headers: input.headers },
      earlier: journal.state.errors ?? earlier?.errors ?? null,
    });
    const run = new RowRun({
      ...{ ...shared, job, journal, errorsFile, requestsPerMinute, keyId },
      ...(earlier !== null && { before: earlier.summary }),
    });
    const summary = job.summary(await run.go());
    return {
      summary: earlier === null ? summary : joined(earlier.summary, summary),
      errors: errorsFile.mark,
    };
  }

  #hooks(resource: Resource, takes: RunHooks['takes']): RunHooks {
    return {
      takes,
      adapt: (body) => this.#references.body(resource, body),
      shown: (row) => this.#references.row(resource, row),
      amend: (body, rejection) => this.#references.withoutOwner(body, rejection),
      stored: (records) => {
        this.#parts.ids.addAll(
          resource.name,
          records.map(({ row, id }) => ({ oldId: idOf(row), newId: id })),
        );
      },
    };
  }

  async #pipelines({ path, input }: ExportedFile): Promise<ImportSummary> {
    const startedMs = Date.now();
    const { created, matched } = await importPipelines(pipelineRecords(path, input), this.#parts);
    return {
      resource: 'pipelines',
      rows: created + matched,
      created,
      updated: matched,
      unchanged: 0,
      skipped: 0,
      rejected: 0,
      companies_created: 0,
      stages_created: 0,
      errors_file: null,
      dry_run: false,
      status: 'finished',
      diagnosis: NO_DIAGNOSIS,
      otherMapping: null,
      seconds: secondsSince(startedMs),
    };
  }
}

function joined(earlier: ImportSummary, later: ImportSummary): ImportSummary {
  return {
    ...later,
    ...importCounts(totalCounts([earlier, later])),
    rows: earlier.rows + later.rows,
    errors_file: later.errors_file ?? earlier.errors_file,
    status: earlier.status === later.status ? later.status : 'finished',
  };
}

async function* pipelineRecords(path: string, input: SurveyedInput): AsyncGenerator<Data> {
  for await (const { line, entries, fault } of await input.rows()) {
    const record: Data = Object.fromEntries(entries);
    const stages = typeof record.stages === 'string' ? JSON.parse(record.stages) : record.stages;
    if (fault !== null || typeof record.name !== 'string' || !Array.isArray(stages)) {
      throw new CliError(`${path}, line ${line}, is not a pipeline with a name and stages.`, {
        nextSteps: ['export the folder again, or correct the line. Deals depend on it.'],
      });
    }
    yield { ...record, stages };
  }
}
