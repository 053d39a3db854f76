// The records of an exported folder, resource by resource, with new ids in place of the old ones.
import type { Data } from '../../db/fields.ts';
import type { Resource } from '../../db/resource.ts';
import type { Client } from '../client.ts';
import type { Config } from '../config.ts';
import { CliError } from '../errors.ts';
import { importPipelines } from './all-pipelines.ts';
import { sha256 } from './digest.ts';
import { ErrorsFile } from './errors-file.ts';
import type { IdMap } from './id-map.ts';
import { ImportRun, type RunHooks } from './import-run.ts';
import { KeyStore } from './key-store.ts';
import { idOf, isAtLevel, markLevels } from './levels.ts';
import { makePlan, planKey } from './plan.ts';
import type { Reporter } from './report.ts';
import type { ImportRequest, ImportSummary } from './request.ts';
import { openJournal } from './resume.ts';
import type { Rejection, SourceRow } from './row.ts';
import type { SurveyedInput } from './survey.ts';

/** One file of the folder. */
export interface ExportedFile {
  resource: Resource;
  path: string;
  input: SurveyedInput;
}

export interface AllParts {
  request: ImportRequest;
  config: Config;
  apiKey: string;
  client: Client;
  reporter: Reporter;
  ids: IdMap;
  organization: string | null;
  requestsPerMinute: number;
  interruption: AbortController;
  /** Stands for the content of all files. */
  content: string;
  keyPrefix: string;
}

const OWNER_FIELDS = ['owner_id', 'main_assignee_id'];

/** Imports the files of one folder. */
export class RecordsImport {
  readonly #parts: AllParts;
  readonly #unknownOwners = new Set<string>();
  /** References to users of another organization, or to records that the folder does not have. */
  leftOut = 0;

  constructor(parts: AllParts) {
    this.#parts = parts;
  }

  /** Imports one file; a file of notes takes a run for every level of the tree. */
  async import(file: ExportedFile): Promise<ImportSummary[]> {
    if (file.resource.name === 'pipelines') return [await this.#pipelines(file)];
    if (file.resource.fields.parent_id === undefined) return [await this.#rows(file, file.path, () => true)];
    const store = new KeyStore();
    try {
      const summaries: ImportSummary[] = [];
      const levels = await markLevels(file.input.rows, store);
      for (let level = 0; level < Math.max(1, levels); level += 1) {
        const name = level === 0 ? file.path : `${file.path}.level-${level}`;
        summaries.push(await this.#rows(file, name, (row) => isAtLevel(row, level, store)));
      }
      return summaries;
    } finally {
      store.close();
    }
  }

  async #rows(
    { resource, input }: ExportedFile,
    journalName: string,
    takes: (row: SourceRow) => boolean,
  ): Promise<ImportSummary> {
    const { request, config, organization, apiKey, client, reporter, interruption, requestsPerMinute } =
      this.#parts;
    const plan = makePlan(resource, input.survey, { ...request, custom: false });
    const content = `${this.#parts.content}\n${journalName}\n${planKey(plan)}`;
    const journal = await openJournal({
      input: journalName,
      fingerprint: sha256(`${content}\n${config.url}`),
      keyDigest: sha256(apiKey),
      organization,
      batchSize: request.batchSize,
      isResumeWanted: request.isResumeWanted,
      isConfirmed: request.isConfirmed,
    });
    const { errorsFile, errorsBytes } = journal.state;
    const run = new ImportRun({
      ...{ request, resource, client, input, plan, journal, reporter },
      ...{ content, interruption, requestsPerMinute },
      errorsFile: new ErrorsFile({
        ...{ path: null, input: journalName, format: 'ndjson', headers: null },
        resumed: errorsFile === null ? null : { file: errorsFile, bytes: errorsBytes },
      }),
      hooks: this.#hooks(resource, takes),
    });
    return run.go();
  }

  #hooks(resource: Resource, takes: RunHooks['takes']): RunHooks {
    return {
      takes,
      adapt: (body) => this.#withNewIds(resource, body),
      amend: (body, rejection) => this.#withoutOwner(body, rejection),
      stored: (records) => {
        this.#parts.ids.addAll(
          resource.name,
          records.map(({ row, id }) => ({ oldId: idOf(row), newId: id })),
        );
      },
    };
  }

  #withNewIds(resource: Resource, body: Data): Data {
    const adapted: Data = {};
    for (const [name, value] of Object.entries(body)) {
      const target = resource.fields[name]?.references;
      if (target === undefined || target === '') adapted[name] = value;
      else if (target === 'users') {
        if (!this.#unknownOwners.has(String(value))) adapted[name] = value;
        else this.leftOut += 1;
      } else {
        const id = this.#parts.ids.find(target, String(value));
        if (id === undefined) this.leftOut += 1;
        else adapted[name] = id;
      }
    }
    return adapted;
  }

  /** The same body without a user that this organization does not have; null where something else is wrong. */
  #withoutOwner(body: Data, rejection: Rejection): Data | null {
    const paths = rejection.path.split(', ');
    const owners = OWNER_FIELDS.filter((name) => paths.includes(name) && typeof body[name] === 'string');
    if (owners.length === 0 || owners.length < paths.length) return null;
    for (const name of owners) this.#unknownOwners.add(String(body[name]));
    this.leftOut += owners.length;
    return Object.fromEntries(Object.entries(body).filter(([name]) => !owners.includes(name)));
  }

  async #pipelines({ path, input }: ExportedFile): Promise<ImportSummary> {
    const { client, ids, keyPrefix, interruption } = this.#parts;
    const startedMs = Date.now();
    const { created, matched } = await importPipelines(pipelineRecords(path, input), {
      ...{ client, ids, keyPrefix, signal: interruption.signal },
    });
    return {
      ...{
        resource: 'pipelines',
        rows: created + matched,
        created,
        updated: matched,
        skipped: 0,
        rejected: 0,
      },
      ...{ companies_created: 0, errors_file: null, dry_run: false, status: 'finished', samples: [] },
      seconds: Math.round((Date.now() - startedMs) / 100) / 10,
    };
  }
}

async function* pipelineRecords(path: string, input: SurveyedInput): AsyncGenerator<Data> {
  for await (const { line, entries, fault } of await input.rows()) {
    const record: Data = Object.fromEntries(entries);
    const stages = typeof record.stages === 'string' ? JSON.parse(record.stages) : record.stages;
    if (fault !== null || typeof record.name !== 'string' || !Array.isArray(stages)) {
      throw new CliError(`${path}, line ${line}, is no pipeline with a name and stages.`, {
        nextSteps: ['export the folder again, or correct the line; deals depend on it.'],
      });
    }
    yield { ...record, stages };
  }
}
