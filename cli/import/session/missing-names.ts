// Finds the names in an input that do not exist, before a row is sent: of companies, pipelines and stages.
import { getResource } from '../../../db/model/resources/registry.ts';
import { caselessKey, normalizeDomain } from '../../../db/model/text.ts';
import type { Client } from '../../api/client.ts';
import { readPipelines } from '../../api/id-finder.ts';
import { PAGE_SIZE_MAX, type Pageable, pageFrom, pagesOf } from '../../api/pages.ts';
import { type Pipeline, pipelineNamed, stageNamed } from '../../api/pipelines.ts';
import { resourcePath } from '../../api/target.ts';
import { isRefusal } from '../../errors.ts';
import { type LookupText, lookupTexts } from '../plan/lookup-texts.ts';
import type { Plan } from '../plan/plan.ts';
import type { Survey } from '../plan/survey.ts';
import { looksLikeDomain } from '../rows/lookups.ts';

export type MissingKind = 'company' | 'pipeline' | 'stage';

/** The names of a kind that do not exist. */
export interface MissingNames {
  kind: MissingKind;
  names: readonly LookupText[];
  /** Whether there may be more. */
  hasMore: boolean;
  /** The pipeline without the stages, if the rows are all of one. */
  pipeline: string | null;
}

const MISSING_KINDS: readonly MissingKind[] = ['pipeline', 'stage', 'company'];
const NAMES_PER_REQUEST = 100;

/** Asks the server for the names of an input; remembers what it said, because a mapping can change. */
export class NameCheck {
  readonly #client: Client;
  /** Names and domains in lower case: whether a company has them. */
  readonly #companies = new Map<string, boolean>();
  #pipelines: Promise<Pipeline[]> | undefined;

  constructor(client: Client) {
    this.#client = client;
  }

  /** The missing names of these kinds; what the key cannot read is not told. */
  async missingNames(
    plan: Plan,
    survey: Survey,
    kinds: readonly MissingKind[] = MISSING_KINDS,
  ): Promise<MissingNames[]> {
    const missing: MissingNames[] = [];
    for (const kind of kinds) {
      try {
        const found = await this.#missing(kind, plan, survey);
        if (found.names.length > 0) missing.push(found);
      } catch (error) {
        // The rows are sent anyway, and say what is wrong.
        if (!isRefusal(error)) throw error;
      }
    }
    return missing;
  }

  #missing(kind: MissingKind, plan: Plan, survey: Survey): Promise<MissingNames> {
    if (kind === 'company') return this.#missingCompanies(plan, survey);
    return kind === 'stage' ? this.#missingStages(plan, survey) : this.#missingPipelines(plan, survey);
  }

  async #missingPipelines(plan: Plan, survey: Survey): Promise<MissingNames> {
    const { texts, hasMore } = lookupTexts('pipeline', plan, survey);
    const known = texts.length === 0 ? [] : await this.#allPipelines();
    const names = texts.filter(({ text }) => isMissing(pipelineNamed(known, { name: text })));
    return { kind: 'pipeline', names, hasMore, pipeline: null };
  }

  async #missingStages(plan: Plan, survey: Survey): Promise<MissingNames> {
    const { texts, hasMore } = lookupTexts('stage', plan, survey);
    const pipelines = texts.length === 0 ? [] : await this.#pipelinesOf(plan, survey);
    const [first, ...others] = pipelines;
    const names =
      first === undefined
        ? []
        : texts.filter(({ text }) => pipelines.every((one) => isMissing(stageNamed(one, text))));
    return { kind: 'stage', names, hasMore, pipeline: others.length === 0 ? (first?.name ?? null) : null };
  }

  async #missingCompanies(plan: Plan, survey: Survey): Promise<MissingNames> {
    const { texts, hasMore } = lookupTexts('company', plan, survey);
    const domains = texts.flatMap(({ text }) => (looksLikeDomain(text) ? [normalizeDomain(text)] : []));
    await this.#askFor('domain', domains);
    const isKnown = (key: string): boolean => this.#companies.get(key) === true;
    const isFound = (text: string): boolean =>
      (looksLikeDomain(text) && isKnown(`domain ${normalizeDomain(text)}`)) ||
      isKnown(`name ${caselessKey(text)}`);
    const others = texts.filter(({ text }) => !isFound(text));
    await this.#askFor(
      'name',
      others.map(({ text }) => text),
    );
    return {
      ...{ kind: 'company', hasMore, pipeline: null },
      names: others.filter(({ text }) => !isFound(text)),
    };
  }

  /** The pipelines that rows may be of: those that they name, and the one of rows without a name. */
  async #pipelinesOf(plan: Plan, survey: Survey): Promise<Pipeline[]> {
    const all = await this.#allPipelines();
    const destinations = [...[...plan.columns.values()], ...plan.constants].map(
      ({ destination }) => destination,
    );
    // IDs can be of any.
    if (destinations.some((one) => one.kind === 'field' && one.field === 'pipeline_id')) return all;
    const { texts } = lookupTexts('pipeline', plan, survey);
    const named = texts.flatMap(({ text }) => {
      const result = pipelineNamed(all, { name: text });
      return 'found' in result ? [result.found] : [];
    });
    return [...new Set([...named, ...all.slice(0, 1)])];
  }

  #allPipelines(): Promise<Pipeline[]> {
    this.#pipelines ??= readPipelines(this.#client);
    return this.#pipelines;
  }

  /** Asks which companies have these values, if that is not known yet. */
  async #askFor(field: 'name' | 'domain', texts: readonly string[]): Promise<void> {
    const keyOf = (text: string): string => `${field} ${caselessKey(text)}`;
    const unknown = texts.filter((text) => !this.#companies.has(keyOf(text)));
    for (let at = 0; at < unknown.length; at += NAMES_PER_REQUEST) {
      const some = unknown.slice(at, at + NAMES_PER_REQUEST);
      for (const text of some) this.#companies.set(keyOf(text), false);
      for await (const { records } of pagesOf(this.#client, companiesWith(field, some))) {
        for (const record of records) this.#companies.set(keyOf(String(record[field])), true);
      }
    }
  }
}

function companiesWith(field: 'name' | 'domain', values: readonly string[]): Pageable {
  return {
    pageSizeMax: PAGE_SIZE_MAX,
    page: async (client, cursor, limit) => {
      const body = {
        filter: { [field]: { in: [...values] } },
        fields: [field],
        limit,
        ...(cursor && { cursor }),
      };
      const path = `${resourcePath(getResource('companies'))}/query`;
      return pageFrom(await client.request('POST', path, { body, idempotencyKey: null }));
    },
  };
}

// Several of one name are another fault, which rows have by themselves.
function isMissing(named: ReturnType<typeof pipelineNamed> | ReturnType<typeof stageNamed>): boolean {
  return !('found' in named) && named.choices.length > 0;
}
