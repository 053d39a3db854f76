// Checks whether the IDs of a row exist, without writing.
import { referenceFault } from '../../../db/model/faults.ts';
import type { Data } from '../../../db/model/json.ts';
import type { Resource } from '../../../db/model/resource.ts';
import { STAGE_ELSEWHERE } from '../../../db/model/resources/deals.ts';
import type { Client } from '../../api/client.ts';
import { isRefusal } from '../../errors.ts';
import { type Rejection, RowFault } from '../row.ts';
import { type Lookups, PLACEHOLDER_ID } from '../rows/lookups.ts';
import { requestForRow } from '../rows/row-request.ts';
import { IdProbe } from './id-probe.ts';
import type { RecordScan } from './record-scan.ts';

/** What the checks of a dry run share. */
export interface CheckContext {
  client: Client;
  resource: Resource;
  lookups: Lookups;
  scan: RecordScan;
  /** Resources that could not be checked. */
  unchecked: Set<string>;
  signal: AbortSignal;
}

interface Reference {
  field: string;
  target: string;
  id: string;
}

/** Checks the references of the rows of one resource. */
export class ReferenceCheck {
  readonly #context: CheckContext;
  readonly #probe: IdProbe;

  constructor(context: CheckContext) {
    this.#context = context;
    this.#probe = new IdProbe(context.client, context.signal);
  }

  /** Asks about the IDs of many bodies at once, if they cannot be read. */
  async prepare(bodies: readonly Data[]): Promise<void> {
    const { resource, scan, unchecked } = this.#context;
    const byField = Map.groupBy(
      bodies.flatMap((body) => this.#referencesOf(body)),
      ({ field }) => field,
    );
    for (const [field, references] of byField) {
      const target = references[0]?.target ?? '';
      if (target !== 'users' && (await scan.scanned(target)) !== 'none') continue;
      const ids = references.map(({ id }) => id);
      if (!(await this.#probe.learn(resource, field, ids))) unchecked.add(target);
    }
  }

  /** The faults that the server would report for the IDs of a body; a forbidden reference is reported alone. */
  async faultsOf(body: Data): Promise<Rejection[]> {
    const faults: Rejection[] = [];
    for (const { field, target, id } of this.#referencesOf(body)) {
      const known = this.#probe.answer(target, id);
      if (known?.path === '') return [known];
      if (known) faults.push({ ...known, path: field });
      else if (known === undefined && !(await this.#exists(target, id)))
        faults.push(referenceFault(field, target));
    }
    return [...faults, ...(await this.#stageFaults(body))];
  }

  #referencesOf(body: Data): Reference[] {
    return Object.entries(body).flatMap(([field, id]) => {
      const target = this.#context.resource.fields[field]?.references;
      // Stages are checked separately; companies that would be created do not have an ID yet.
      if (target === undefined || ['', 'stages'].includes(target)) return [];
      return typeof id === 'string' && id !== PLACEHOLDER_ID ? [{ field, target, id }] : [];
    });
  }

  async #exists(target: string, id: string): Promise<boolean> {
    const { client, scan, signal } = this.#context;
    if (target === 'users') return true;
    const scanned = await scan.scanned(target);
    if (scanned !== 'part' || scan.hasId(target, id)) return scanned === 'none' || scan.hasId(target, id);
    try {
      await requestForRow(client, 'GET', `/api/v2/${target}/${encodeURIComponent(id)}`, { signal });
    } catch (error) {
      if (error instanceof RowFault) return false;
      throw error;
    }
    scan.addId(target, id);
    return true;
  }

  async #stageFaults({ stage_id: stageId, pipeline_id: pipelineId }: Data): Promise<Rejection[]> {
    const pipelines = typeof stageId === 'string' ? await this.#pipelines() : undefined;
    if (pipelines === undefined) return [];
    const wanted = typeof pipelineId === 'string' ? pipelineId : pipelines[0]?.id;
    const found = pipelines.find(({ stages }) => stages.some(({ id }) => id === stageId));
    // If the pipeline is missing, its stage is not reported too.
    if (found?.id === wanted || !pipelines.some(({ id }) => id === wanted)) return [];
    if (found === undefined) return [referenceFault('stage_id', 'stages')];
    return [{ path: 'stage_id', message: STAGE_ELSEWHERE, code: 'VALIDATION_FAILED' }];
  }

  /** The pipelines, if the key can read them. */
  async #pipelines() {
    const { lookups, unchecked } = this.#context;
    try {
      return await lookups.pipelines();
    } catch (error) {
      if (!isRefusal(error, 403)) throw error;
      unchecked.add('pipelines');
      return undefined;
    }
  }
}
