// Replaces the names in a row that is otherwise valid with IDs, and settles the stage of a deal.
import type { Data } from '../../../db/model/json.ts';
import { STAGE_TYPES } from '../../../db/model/resources/pipelines.ts';
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

/** Completes the body; what is not found becomes a fault. */
export async function lookUp(row: LookedUp, lookups: Lookups): Promise<void> {
  const { body, wanted, faults } = row;
  const resolve = async (
    kind: LookupKind | 'status',
    find: (text: string) => Promise<string | undefined>,
  ): Promise<void> => {
    const one = wanted.get(kind);
    if (one === undefined) return;
    try {
      const id = await find(one.text);
      if (id !== undefined) body[one.field] = id;
    } catch (error) {
      faults.push(faultAt(error, kind));
    }
  };
  let pipeline: Pipeline | undefined;
  await resolve('pipeline', async (name) => {
    pipeline = await lookups.pipeline({ name });
    return pipeline.id;
  });
  // If the named pipeline does not exist, the stage is looked up in the one that is probably meant.
  const likely = likeliest(wanted.get('pipeline')?.text ?? '', faults[0]?.remedy ?? {});
  if (faults.length > 0 && likely === undefined) {
    wanted.delete('stage');
    wanted.delete('status');
  }
  const pipelineOfRow = async (): Promise<Pipeline> => {
    const id = body.pipeline_id;
    pipeline ??= await lookups.pipeline(
      likely !== undefined ? { name: likely } : typeof id === 'string' ? { id } : {},
    );
    return pipeline;
  };
  await resolve('stage', async (text) => {
    const found = await pipelineOfRow();
    body.pipeline_id = found.id;
    return lookups.stage(found, text, false);
  });
  if (faults.length === 0) {
    await resolve('status', async (text) => {
      const all = await lookups.pipelines();
      const ofStage = all.find(({ stages }) => stages.some(({ id }) => id === body.stage_id));
      return closingStage(row, ofStage ?? (await pipelineOfRow()), text);
    });
  }
  await resolve('contact', (email) => lookups.contact(email));
  // Last, because they may create a company or a stage, and a rejected row must not.
  const isWanted = faults.length === 0;
  await resolve('company', (text) => lookups.company(text, isWanted));
  const lacking = body.stage_id === PLACEHOLDER_ID && faults.length === 0 ? pipeline : undefined;
  if (lacking !== undefined) await resolve('stage', (text) => lookups.stage(lacking, text));
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
    const message = `"${text.trim()}" is not a status; it must be one of: ${STAGE_TYPES.join(', ')}`;
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
