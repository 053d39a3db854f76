// Pipelines: the stages that deals pass through, in order.
import { type TSchema, Type } from 'typebox';
import { exampleId, idSchema, NAME_CHARACTERS_MAX, sayingText, text } from '../fields.ts';
import { json } from '../json-fields.ts';
import { defineResource } from '../resource.ts';
import { nullable } from '../schemas.ts';

export const STAGE_TYPES = ['open', 'won', 'lost'] as const;
export type StageType = (typeof STAGE_TYPES)[number];
const STAGES_MAX = 50;

/** The stages of a pipeline that is created without any. */
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

const stageName = sayingText({ maxLength: NAME_CHARACTERS_MAX, examples: ['Qualified'] });
const stageType = Type.Enum([...STAGE_TYPES]);
const probability = Type.Number({ minimum: 0, maximum: 1, examples: [0.2] });
const newStage = {
  name: stageName,
  type: Type.Optional({ ...stageType, description: 'open unless given.' }),
  probability: Type.Optional(nullable(probability)),
};
// Ids and positions are for updates: the service gives a new stage its id, and the order its position.
const stageInput = Type.Object(
  {
    id: Type.Optional(idSchema({ description: 'In an update: the stage to keep.' })),
    ...newStage,
    name: Type.Optional({ ...stageName, description: 'Required of a new stage.' }),
    position: Type.Optional(
      Type.Integer({ minimum: 0, description: 'In an update, if it agrees with the order.' }),
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
  description: 'The stages that deals pass through, in order. Every organization starts with one.',
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
        'The stages in order; a default set unless given. An update replaces the list, keeping stages by id.',
      example: [
        { name: 'Qualified', type: 'open', probability: 0.2 },
        { name: 'Won', type: 'won' },
      ],
    }),
  },
  sideTables: [{ table: 'pipeline_stages', parentColumn: 'pipeline_id', childColumn: 'id', children: {} }],
  explanations: {
    create:
      'Without stages it gets Prospecting, Discovery, Proposal, Negotiation, Closed Won and Closed Lost. Stages take ' +
      'no `id` or `position` here.',
    update:
      'With `stages` the list is replaced: a stage with the `id` of one that is there keeps it, and what is not said ' +
      'of it; one without is new; one left out goes, which is a 409 while deals are in it. Deals follow a changed type.',
    delete: 'A 409 while deals are in it.',
  },
  columns: ['id', 'name', 'created_at', 'updated_at'],
});
