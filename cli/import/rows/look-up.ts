// Replaces the names in a row that is otherwise valid with IDs, and settles the stage of a deal.

import type { Data } from '../../../db/model/json.ts';
import { STAGE_TYPES } from '../../../db/model/resources/pipelines.ts';
import { clip } from '../../../db/model/text.ts';
import { type Pipeline, stageTypeNamed } from '../../api/pipelines.ts';
import type { LookupKind } from '../plan/headers.ts';
import { faultAt, likeliest, RowFault, type RowReason } from '../row.ts';
import { type Lookups, PLACEHOLDER_ID } from './lookups.ts';

/** A text to look up, and the column and field that it is for. */
export interface WantedName {
  field: string;
  header: string;
  text: string;
}

/** What is looked up for a row. */
export interface LookedUp {
  body: Data;
  faults: RowReason[];
  /** What must still be looked up, by kind. */
  wanted: Map<LookupKind | 'status', WantedName>;
  /** Whether values that are not used are kept under `custom.*`. */
  keepsOthers: boolean;
}

/**
 * Completes the body; what is not found becomes a fault. In a row with faults only pipeline and stage are looked up: they
 * are known, but other lookups cost requests and may create companies.
 */
export async function lookUp(row: LookedUp, lookups: Lookups): Promise<void> {
  const isValid = row.faults.length === 0;
  const lookup = new RowLookup(row, lookups);
  await lookup.findStage();
  if (isValid) await lookup.findOthers();
  row.faults.push(...lookup.faults);
}

class RowLookup {
  readonly faults: RowReason[] = [];
  readonly #row: LookedUp;
  readonly #lookups: Lookups;
  #pipeline: Pipeline | undefined;
  /** The pipeline that is probably meant, if the named one does not exist. */
  #likely: string | undefined;

  constructor(row: LookedUp, lookups: Lookups) {
    this.#row = row;
    this.#lookups = lookups;
  }

  async findStage(): Promise<void> {
    const { body, wanted } = this.#row;
    await this.#resolve('pipeline', async (name) => {
      this.#pipeline = await this.#lookups.pipeline({ name });
      return this.#pipeline.id;
    });
    const [fault] = this.faults;
    this.#likely = fault?.remedy && likeliest(wanted.get('pipeline')?.text ?? '', fault.remedy);
    if (fault !== undefined && this.#likely === undefined) return;
    await this.#resolve('stage', async (text) => {
      const pipeline = await this.#pipelineOfRow();
      body.pipeline_id = pipeline.id;
      return this.#lookups.stage(pipeline, text, false);
    });
    if (this.faults.length > 0) return;
    await this.#resolve('status', async (text) => {
      const all = await this.#lookups.pipelines();
      const ofStage = all.find(({ stages }) => stages.some(({ id }) => id === body.stage_id));
      return closingStage(this.#row, ofStage ?? (await this.#pipelineOfRow()), text);
    });
  }

  async findOthers(): Promise<void> {
    const { body } = this.#row;
    await this.#resolve('contact', (email) => this.#lookups.contact(email));
    // Last, because they may create a company or a stage, and a rejected row must not.
    const isWanted = this.faults.length === 0;
    await this.#resolve('company', (text) => this.#lookups.company(text, isWanted));
    const pipeline = this.#pipeline;
    if (pipeline === undefined || body.stage_id !== PLACEHOLDER_ID || this.faults.length > 0) return;
    await this.#resolve('stage', (text) => this.#lookups.stage(pipeline, text));
  }

  async #resolve(
    kind: LookupKind | 'status',
    find: (text: string) => Promise<string | undefined>,
  ): Promise<void> {
    const one = this.#row.wanted.get(kind);
    if (one === undefined) return;
    try {
      const id = await find(one.text);
      if (id !== undefined) this.#row.body[one.field] = id;
    } catch (error) {
      this.faults.push(faultAt(error, kind));
    }
  }

  async #pipelineOfRow(): Promise<Pipeline> {
    const { pipeline_id: id } = this.#row.body;
    const ownId = typeof id === 'string' ? { id } : {};
    this.#pipeline ??= await this.#lookups.pipeline(
      this.#likely === undefined ? ownId : { name: this.#likely },
    );
    return this.#pipeline;
  }
}

/**
 * The stage of a deal that is won or lost; undefined if its own stage is right. Other products leave a deal in the stage
 * that it had before: with --custom, its name is kept.
 */
function closingStage(
  { body, wanted, keepsOthers }: LookedUp,
  pipeline: Pipeline,
  text: string,
): string | undefined {
  const type = stageTypeNamed(text);
  if (type === undefined) {
    const message = `"${clip(text.trim())}" is not a status; it must be one of: ${STAGE_TYPES.join(', ')}`;
    throw new RowFault('VALIDATION_FAILED', '', message, { choices: STAGE_TYPES, usual: 'open' });
  }
  const own = pipeline.stages.find(({ id }) => id === body.stage_id);
  if (type === 'open' || own?.type === type) return undefined;
  const closing = pipeline.stages.find((stage) => stage.type === type);
  if (closing === undefined) {
    const message = `the pipeline "${pipeline.name}" does not have a stage of type ${type}; add one to it`;
    throw new RowFault('RESOURCE_NOT_FOUND', '', message);
  }
  body.pipeline_id = pipeline.id;
  const before = wanted.get('stage');
  if (before !== undefined && keepsOthers && !before.header.startsWith('--set '))
    body.custom = { [before.header]: before.text, ...(body.custom as Data | undefined) };
  return closing.id;
}
