// Converts names to IDs: asks the server once for companies, contacts and pipelines, and caches them.

import { faultsOf } from '../../../db/model/check.ts';
import type { Data } from '../../../db/model/json.ts';
import { getResource } from '../../../db/model/resources/registry.ts';
import { uniqueValues } from '../../../db/model/rules.ts';
import { caselessKey, clip, normalizeDomain } from '../../../db/model/text.ts';
import type { Client } from '../../api/client.ts';
import { pageOf, recordOf } from '../../api/envelope.ts';
import { readPipelines } from '../../api/id-finder.ts';
import { lengthFault, stageLengthFault } from '../../api/name-lengths.ts';
import { listAt, pagesOf } from '../../api/pages.ts';
import { type Named, type Pipeline, pipelineNamed, stageNamed } from '../../api/pipelines.ts';
import { isRefusal } from '../../errors.ts';
import { sha256 } from '../../files/digest.ts';
import { RowFault, rejectionOf } from '../row.ts';
import type { SuggestedFlags } from '../suggested-flags.ts';
import { requestForRow } from './row-request.ts';
import { createStage } from './stages.ts';
import { keyOf } from './unique-keys.ts';

export interface LookupOptions {
  /** Creates missing companies; their idempotency keys start with `keyPrefix`. */
  createMissing: boolean;
  /** Adds stages that a pipeline does not have. */
  createStages: boolean;
  keyPrefix: string;
  /** Nothing is kept: companies that would be created get a placeholder ID. */
  isDryRun: boolean;
  signal?: AbortSignal;
}

/** IDs by name and by unique values. */
type Directory = ReadonlyMap<string, readonly string[]>;

const DIRECTORY_MAX = 1_000;
const REMEMBERED_MAX = 20_000;
const DOMAIN = /^[^\s@]+\.[^\s@.]{2,}$/;
/** The placeholder ID of a record that a dry run would have created; rows cannot contain it. */
export const PLACEHOLDER_ID = '';

/** Caches the latest responses, failures included, with bounded memory. */
class Memory<T> {
  readonly #answers = new Map<string, Promise<T>>();

  get(key: string, ask: () => Promise<T>): Promise<T> {
    const answer = this.#answers.get(key) ?? ask();
    this.#answers.delete(key);
    this.#answers.set(key, answer);
    const oldest = this.#answers.keys().next();
    if (this.#answers.size > REMEMBERED_MAX && !oldest.done) this.#answers.delete(oldest.value);
    return answer;
  }
}

/** Looks records up by name; throws a RowFault if a name is missing or ambiguous. */
export class Lookups {
  readonly #client: Client;
  readonly #options: LookupOptions;
  /** Null if there is none. */
  readonly #companies = new Memory<string | null>();
  readonly #created = new Memory<string>();
  readonly #contacts = new Memory<string>();
  readonly #stages = new Memory<string>();
  readonly #directories: { [resource: string]: Promise<Directory | null> } = {};
  #pipelines: Promise<Pipeline[]> | undefined;
  /** Companies that were, or in a dry run would be, created. */
  createdCompanies = 0;
  /** Stages that were, or in a dry run would be, created. */
  createdStages = 0;

  constructor(client: Client, options: LookupOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** ID of the company with this domain or name; '' for one that is only created if the record `isWanted`. */
  async company(text: string, isWanted = true): Promise<string> {
    const value = text.trim();
    refuse(lengthFault(looksLikeDomain(value) ? normalizeDomain(value) : value));
    const key = value.toLowerCase();
    const id = await this.#companies.get(key, () => this.#findCompany(value));
    if (id !== null) return id;
    if (this.#options.createMissing)
      return isWanted ? this.#created.get(key, () => this.#createCompany(value)) : PLACEHOLDER_ID;
    const what = looksLikeDomain(value) ? 'domain or name' : 'name';
    const message = `no company has the ${what} "${clip(value)}"; create it with --create-missing`;
    throw new RowFault('RESOURCE_NOT_FOUND', '', message, { changes: { createMissing: true } });
  }

  /** ID of the contact with this email. */
  async contact(email: string): Promise<string> {
    refuse(lengthFault(email));
    return this.#contacts.get(email.toLowerCase(), async () => {
      const [id] = await this.#idsOf('contacts', 'email', email);
      if (id !== undefined) return id;
      throw notFound(`no contact has the email "${clip(email)}"`);
    });
  }

  /** All pipelines, the oldest first. */
  pipelines(): Promise<Pipeline[]> {
    this.#pipelines ??= readPipelines(this.#client, this.#options.signal);
    return this.#pipelines;
  }

  /** The pipeline with this ID or this name, or the organization's oldest one. */
  async pipeline(which: { name?: string; id?: string }): Promise<Pipeline> {
    refuse(lengthFault(which.name ?? ''));
    return foundIn(pipelineNamed(await this.pipelines(), which));
  }

  /** ID of the stage with this name; '' for one that is only created if the record `isWanted`. */
  async stage(pipeline: Pipeline, text: string, isWanted = true): Promise<string> {
    refuse(stageLengthFault(text.trim()));
    const named = stageNamed(pipeline, text);
    const isMissing = 'choices' in named && named.choices.length > 0;
    if (!isMissing || !this.#options.createStages) return foundIn(named, [{ createStages: true }]).id;
    if (!isWanted) return PLACEHOLDER_ID;
    return this.#stages.get(JSON.stringify([pipeline.id, text.trim().toLowerCase()]), async () => {
      const { isDryRun, signal } = this.#options;
      if (!isDryRun) pipeline.stages = await createStage(this.#client, pipeline.id, text.trim(), signal);
      this.createdStages += 1;
      if (isDryRun) return PLACEHOLDER_ID;
      return foundIn(stageNamed(pipeline, text)).id;
    });
  }

  async #findCompany(value: string): Promise<string | null> {
    const byDomain = looksLikeDomain(value)
      ? await this.#idsOf('companies', 'domain', normalizeDomain(value))
      : [];
    // An address with a path can be longer than any name.
    const isByName = byDomain.length === 0 && lengthFault(value) === undefined;
    const [id, second] = isByName ? await this.#idsOf('companies', 'name', value) : byDomain;
    if (second === undefined) return id ?? null;
    throw notCertain(`several companies are named "${clip(value)}"; use the domain, or company_id`);
  }

  async #createCompany(value: string): Promise<string> {
    const domain = looksLikeDomain(value) ? normalizeDomain(value) : null;
    const body: Data = domain === null ? { name: value } : { domain };
    const faults = faultsOf(body, { schema: getResource('companies').createSchema });
    if (faults.length > 0) {
      const { code, path, message } = rejectionOf(faults);
      throw new RowFault(code, path, message);
    }
    const { isDryRun, keyPrefix, signal } = this.#options;
    const text = domain ?? value.toLowerCase();
    const digest = sha256(text).slice(0, 32);
    const response = await requestForRow(this.#client, 'POST', '/api/v2/companies', {
      ...{ body, signal, isDryRun, idempotencyKey: `${keyPrefix}-company-${digest}` },
    });
    this.createdCompanies += 1;
    return isDryRun ? PLACEHOLDER_ID : String(recordOf(response).id);
  }

  /** IDs of the records with a value, at most two. */
  async #idsOf(resource: 'companies' | 'contacts', filter: string, value: string): Promise<string[]> {
    this.#directories[resource] ??= this.#readDirectory(resource);
    const directory = await this.#directories[resource];
    const known = directory?.get(keyOf({ filter, key: caselessKey(value) }));
    // The record may have been created after the directory was read.
    if (known !== undefined) return known.slice(0, 2);
    const response = await requestForRow(this.#client, 'GET', `/api/v2/${resource}`, {
      query: { [filter]: value, limit: '2' },
      signal: this.#options.signal,
    });
    return pageOf(response).records.map((record) => String(record.id));
  }

  /** All records of a small organization, page by page; null if there are more, or the key cannot read them. */
  async #readDirectory(resource: 'companies' | 'contacts'): Promise<Directory | null> {
    const directory = new Map<string, string[]>();
    const list = listAt(`/api/v2/${resource}`, {}, this.#options.signal);
    let isWhole = false;
    try {
      for await (const { records, nextCursor } of pagesOf(this.#client, list, { limit: DIRECTORY_MAX })) {
        for (const record of records) {
          const name =
            typeof record.name === 'string' ? [{ filter: 'name', key: caselessKey(record.name) }] : [];
          for (const key of [...name, ...uniqueValues(getResource(resource), record)].map(keyOf))
            directory.set(key, [...(directory.get(key) ?? []), String(record.id)]);
        }
        isWhole = nextCursor === null;
      }
    } catch (error) {
      // If the key cannot read the list, the request for a single record reports it.
      if (!isRefusal(error)) throw error;
    }
    return isWhole ? directory : null;
  }
}

/** Whether a text looks like a domain, so that a company is looked up by it first. */
export function looksLikeDomain(text: string): boolean {
  return DOMAIN.test(normalizeDomain(text));
}

function refuse(fault: { code: string; message: string } | undefined): void {
  if (fault !== undefined) throw new RowFault(fault.code, '', fault.message);
}

function notFound(message: string): RowFault {
  return new RowFault('RESOURCE_NOT_FOUND', '', message);
}

function foundIn<T>(named: Named<T>, orElse: readonly SuggestedFlags[] = []): T {
  if ('found' in named) return named.found;
  const { code, message, choices, usual } = named;
  if (choices.length === 0) throw new RowFault(code, '', message);
  const ways = orElse.length > 0 ? ', or create the stage with --create-stages' : '';
  const whole = `${message} ${choices.join(', ')} (replace the value with --map-value${ways})`;
  throw new RowFault(code, '', whole, { choices, orElse, ...(usual && { usual }) });
}

function notCertain(message: string): RowFault {
  return new RowFault('VALIDATION_FAILED', '', message);
}
