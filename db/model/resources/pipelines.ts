// Pipelines: the stages that deals pass through, in order.
import { type TSchema, Type } from 'typebox';
import { exampleId, idSchema, NAME_CHARACTERS_MAX, nonBlankText, text } from '../fields.ts';
import { json } from '../json-fields.ts';
import { defineResource } from '../resource.ts';
import { nullable } from '../schemas.ts';

export const STAGE_TYPES = ['open', 'won', 'lost'] as const;
export type StageType = (typeof STAGE_TYPES)[number];
const STAGES_MAX = 50;

/** The stages of a pipeline created without any. */
export const DEFAULT_STAGES: readonly { name: string; type: StageType }[] = [
  { name: 'Prospecting', type: 'open' },
  { name: 'Discovery', type: 'open' },
  { name: 'Proposal', type: 'open' },
  { name: 'Negotiation', type: 'open' },
  { name: 'Closed Won', type: 'won' },
  { name: 'Closed Lost', type: 'lost' },
];

/** The pipeline that every organization starts with. */
export const DEFAULT_PIPELINE_NAME = 'Sales';

const stageName = nonBlankText({ maxLength: NAME_CHARACTERS_MAX, examples: ['Qualified'] });
const stageType = Type.Enum([...STAGE_TYPES]);
const probability = Type.Number({ minimum: 0, maximum: 1, examples: [0.2] });
const newStage = {
  name: stageName,
  type: Type.Optional({ ...stageType, description: 'Default: open.' }),
  probability: Type.Optional(nullable(probability)),
};
// IDs and positions are for updates: the service assigns the ID of a new stage, and the order gives the position.
const stageInput = Type.Object(
  {
    id: Type.Optional(idSchema({ description: 'In an update: the ID of the stage to keep.' })),
    ...newStage,
    name: Type.Optional({ ...stageName, description: 'Required for a new stage.' }),
    position: Type.Optional(
      Type.Integer({ minimum: 0, description: 'In an update: must match the order of the stages.' }),
    ),
  },
  { additionalProperties: false },
);
const stageOutput = Type.Object(
  {
    id: Type.String({ examples: [exampleId('stages')] }),
    name: stageName,
    type: stageType,
    probability: nullable(probability),
    position: Type.Integer({ minimum: 0 }),
  },
  { additionalProperties: false },
);

function stagesOf(stage: TSchema): TSchema {
  return Type.Array(stage, { minItems: 1, maxItems: STAGES_MAX });
}

export const pipelines = defineResource({
  name: 'pipelines',
  description: 'The stages that deals pass through, in order. Every organization starts with one pipeline.',
  verbs: ['list', 'get', 'create', 'update', 'delete', 'batch'],
  scopes: ['read', 'write', 'delete'],
  owner: null,
  sorts: ['created_at'],
  fields: {
    name: text({ required: true, example: 'Sales', aliases: ['Pipeline', 'Pipeline Name'] }),
    stages: json(stagesOf(stageInput), {
      createSchema: stagesOf(Type.Object(newStage, { additionalProperties: false })),
      responseSchema: stagesOf(stageOutput),
      access: 'write',
      column: null,
      initial: [],
      nullable: false,
      description:
        'The stages in order. Default: a standard set. An update replaces the list and keeps stages with an ID.',
      example: [
        { name: 'Qualified', type: 'open', probability: 0.2 },
        { name: 'Won', type: 'won' },
      ],
    }),
  },
  sideTables: [{ table: 'pipeline_stages', parentColumn: 'pipeline_id', childColumn: 'id', children: {} }],
  explanations: {
    create:
      'Default stages: Prospecting, Discovery, Proposal, Negotiation, Closed Won and Closed Lost. Do not send `id` or ' +
      '`position` for new stages.',
    update:
      '`stages` replaces the list. A stage with the `id` of an existing stage keeps it, with all fields you leave out. A ' +
      'stage without `id` is new. A stage you leave out is removed, which returns 409 while deals are in it. Deals follow ' +
      'the changed type of their stage.',
    undelete: 'Its stages come back with their IDs.',
    delete: 'Returns 409 while deals are in the pipeline.',
  },
  columns: ['id', 'name', 'created_at', 'updated_at'],
  glance: ['name', 'stages', 'created_at'],
});
