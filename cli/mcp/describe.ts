// The tool that tells what there is: resources, and of one its fields, filters, links and includes, from the declarations.
import { Type } from 'typebox';
import { type Field, NAME_CHARACTERS_MAX } from '../../db/model/fields.ts';
import type { Data, JsonValue } from '../../db/model/json.ts';
import { CUSTOM_PREFIX, hasCustom, OPERATORS, queryFields } from '../../db/model/query/fields.ts';
import { querySorts } from '../../db/model/query/sorts.ts';
import type { Resource } from '../../db/model/resource.ts';
import { includesOf } from '../../db/model/resources/includes.ts';
import { LINK_KINDS, type LinkKind } from '../../db/model/resources/link-kinds.ts';
import { findResource, RESOURCES } from '../../db/model/resources/registry.ts';
import { isShown } from '../../db/model/schemas.ts';
import { hasTimeline } from '../../db/model/timelines.ts';
import type { Pipeline } from '../api/pipelines.ts';
import { ToolError } from './failures.ts';
import { jsonLine, oneLine } from './lines.ts';
import { NAME_DESCRIPTIONS, namesOf } from './names.ts';
import { isInResults, linesWithin } from './results.ts';
import type { Service } from './service.ts';
import { argumentsOf, oneArgumentOf, READING, type Tool } from './tool.ts';

export const describe: Tool = {
  name: 'describe',
  title: 'Describe the records',
  description:
    'Without a resource: what there is, and what the API key may do. With one: its fields, and what it can be filtered, sorted ' +
    'and linked by; of deals and pipelines also the stages.',
  input: argumentsOf({ resource: Type.Optional(oneArgumentOf(RESOURCES.map(({ name }) => name))) }),
  hints: READING,
  run: async ({ resource: name }, service) => {
    const resource = findResource(String(name));
    const lines = resource === undefined ? await overview(service) : await describedIn(resource, service);
    return lines.join('\n');
  },
};

async function overview(service: Service): Promise<string[]> {
  const { record } = await service.get('/api/v2/authenticate');
  const { organization, key } = record as unknown as { organization: Data; key: Data };
  const scopes = Array.isArray(key.scopes) ? key.scopes.map(String) : [];
  const who =
    key.access === 'user'
      ? `the key sees and changes only what user ${key.user_id} owns`
      : 'the key sees the records of everyone';
  return [
    `Organization ${oneLine(JSON.stringify(organization.name))}; ${who}; it can send ${key.requests_per_minute} requests per minute.`,
    'Resources, and what the key may do with them:',
    ...RESOURCES.map((resource) => {
      const actions = resource.scopes.filter((action) => scopes.includes(`${resource.name}:${action}`));
      return `${resource.name} (${actions.join(', ') || 'nothing'}): ${resource.description}`;
    }),
    'Next: describe {"resource": "deals"} lists what a resource has.',
  ];
}

async function describedIn(resource: Resource, service: Service): Promise<string[]> {
  const { name, description, fields } = resource;
  const names = [...namesOf(resource)].map(
    ([kind, field]) => `${kind} for ${field}: ${NAME_DESCRIPTIONS[kind]}`,
  );
  const links = LINK_KINDS.filter(({ parent }) => parent === resource);
  return [
    `${name}: ${description}`,
    `${takenBy(resource)}:`,
    ...Object.entries(fields).flatMap(([field, one]) =>
      one.access === 'internal' || !isInResults(field) ? [] : [fieldLine(field, one, resource)],
    ),
    ...(names.length === 0
      ? []
      : ['Names that can be sent instead of IDs, in filters too:', ...names.map((line) => `- ${line}`)]),
    'Filter by:',
    ...filterLines(resource),
    `Sort by: ${querySorts(resource).join(', ')}`,
    `Include: ${Object.keys(includesOf(resource)).join(', ') || 'nothing'}`,
    ...links.map(linkLine),
    ...(hasTimeline(name) ? ['It has a timeline.'] : []),
    ...(await stagesFor(name, service)),
  ];
}

function linkLine({ name, link }: LinkKind): string {
  const own = Object.entries(link.fields).map(
    ([field, one]) => `; ${field}: ${typeOf(one)}${one.required ? ', required' : ''}`,
  );
  return `Link: link {"of": "${name}", "parent_id": ID, "id": ID}: ${link.description}${own.join('')}`;
}

/** Which tools take the values of a resource. */
function takenBy({ verbs }: Resource): string {
  if (verbs.includes('update')) return 'Fields, with what upsert and update take';
  return verbs.includes('create')
    ? 'Fields, with what log_interaction takes'
    : 'Fields, which cannot be changed';
}

const TYPES: Partial<Record<Field['kind'], string>> = {
  text: 'text',
  emails: 'list of emails',
  domain: 'domain',
  boolean: 'true or false',
  instant: 'time (RFC 3339, a day, or Unix milliseconds)',
  timestamp: 'time',
  date: 'YYYY-MM-DD',
  references: 'list of IDs',
  custom: 'object of text, numbers and booleans',
  json: 'structure',
};

const ACCESS: Readonly<Record<Field['access'], string>> = {
  ...{ write: '', internal: '', read: ', read-only' },
  create: ', set once',
  input: ', sent only',
};

function fieldLine(name: string, field: Field, { identifying }: Resource): string {
  const { kind, access, required, description, schema } = field;
  const { maxLength } = schema as { maxLength?: number };
  const isLong = kind === 'text' && maxLength !== undefined && maxLength > NAME_CHARACTERS_MAX;
  const long = isLong ? ` up to ${maxLength} characters` : '';
  const need = required && isShown(field) && access !== 'read' ? ', required' : '';
  const one = identifying.includes(name) ? `, at least one of ${identifying.join('/')}` : '';
  // Results show instants in RFC 3339.
  const words = description === '' ? '' : `. ${description.replace(', in Unix milliseconds', '')}`;
  return `- ${name}: ${typeOf(field)}${long}${ACCESS[access]}${need}${one}${words}`;
}

function typeOf({ kind, references, schema }: Field): string {
  const { enum: values } = schema as { enum?: readonly JsonValue[] };
  if (values !== undefined) return `one of ${values.join(', ')}`;
  if (kind === 'reference') return `ID${references ? ` in ${references}` : ''}`;
  return TYPES[kind] ?? kind;
}

/** What a filter can name, with the operators, those with the same ones together. */
function filterLines(resource: Resource): string[] {
  const fields = [...queryFields(resource)].map(({ name, family }) => ({
    name,
    ops: OPERATORS[family].join(' '),
  }));
  const custom = hasCustom(resource)
    ? [{ name: `${CUSTOM_PREFIX}NAME`, ops: OPERATORS.custom.join(' ') }]
    : [];
  const groups = Map.groupBy([...fields, ...custom], ({ ops }) => ops);
  return [...groups].map(([ops, some]) => `- ${some.map(({ name }) => name).join(', ')}: ${ops}`);
}

const PIPELINES_ROOM = 30_000;

function pipelineLine({ id, name, stages }: Pipeline): string {
  return jsonLine({
    pipeline_id: id,
    name,
    stages: stages.map(({ id: stage_id, name: stage, type }) => ({ stage_id, name: stage, type })),
  });
}

async function stagesFor(name: string, service: Service): Promise<string[]> {
  if (name !== 'deals' && name !== 'pipelines') return [];
  try {
    const pipelines = await service.pipelines();
    return [
      'Pipelines, the oldest of which is the default, with their stages in order:',
      ...linesWithin(pipelines.map(pipelineLine), PIPELINES_ROOM, 'query pipelines.'),
    ];
  } catch (error) {
    if (!(error instanceof ToolError) || error.code !== 'AUTH_INSUFFICIENT_SCOPE') throw error;
    return ['The API key may not read pipelines and their stages.'];
  }
}
