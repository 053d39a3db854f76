// IDs for names, where the command line takes names too: company, contact, owner, pipeline and stage.
import { type Data, isObject } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { isDomain } from '../../db/model/text.ts';
import { type Named, type Pipeline, pipelineNamed, stageNamed } from '../api/pipelines.ts';
import { type LookupKind, lookupsOf } from '../import/plan/headers.ts';
import { isOurId } from '../input/record-id.ts';
import { ToolError } from './failures.ts';
import type { Service, ServicePage } from './service.ts';

/** The names that records of a resource can be given by, with the field of the ID. */
export const namesOf: (resource: Resource) => ReadonlyMap<LookupKind, string> = lookupsOf;

/** What each name is. */
export const NAME_DESCRIPTIONS: Readonly<Record<LookupKind, string>> = {
  company: 'Name or domain, instead of the ID',
  contact: 'Email, instead of the ID',
  owner: 'Email or name of a user, or "me", instead of the ID',
  pipeline: 'Name, instead of pipeline_id',
  stage: 'Name, instead of stage_id',
};

/** What is known of the record beside the names. */
export interface KnownOfRecord {
  /** Of the record to change, if it is there for certain. */
  id?: string | undefined;
  pipelineId?: string | undefined;
}

/** The fields with the IDs of what is named. */
export async function idsOfNames(
  resource: Resource,
  names: ReadonlyMap<LookupKind, string>,
  service: Service,
  known: KnownOfRecord,
): Promise<Data> {
  const found: Data = {};
  const fields = namesOf(resource);
  const put = async (kind: LookupKind, find: (text: string) => Promise<string>): Promise<void> => {
    const text = names.get(kind);
    const field = fields.get(kind);
    if (text !== undefined && field !== undefined) found[field] = await find(text);
  };
  await put('company', (text) => companyId(text, service));
  await put('contact', (text) => contactId(text, service));
  await put('owner', (text) => ownerId(text, service));
  const stage = names.get('stage');
  const name = names.get('pipeline');
  const pipelines = stage === undefined && name === undefined ? [] : await service.pipelines();
  if (name !== undefined) found.pipeline_id = foundAs('pipeline', pipelineNamed(pipelines, { name })).id;
  if (stage === undefined) return found;
  const pipelineId = found.pipeline_id ?? known.pipelineId ?? (await pipelineIdOf(known.id, service));
  return {
    ...found,
    ...stageIds(stage, pipelines, pipelineId === undefined ? undefined : String(pipelineId)),
  };
}

async function companyId(text: string, service: Service): Promise<string> {
  const byDomain =
    text.includes('.') && isDomain(text) ? await idsWith('companies', 'domain', text, service) : [];
  const [id, second] = byDomain.length > 0 ? byDomain : await idsWith('companies', 'name', text, service);
  if (second !== undefined)
    throw nameError('company', `several companies are named "${text}"; send company_id`);
  if (id !== undefined) return id;
  const message = `no company has the name or domain "${text}"`;
  throw nameError('company', message, ['Find it with search, or create it with upsert.']);
}

async function contactId(text: string, service: Service): Promise<string> {
  const [id] = await idsWith('contacts', 'email', text, service);
  if (id !== undefined) return id;
  throw nameError('contact', `no contact has the email "${text}"`, [
    'Find the contact with search, and send its ID.',
  ]);
}

async function idsWith(resource: string, filter: string, value: string, service: Service): Promise<string[]> {
  const { records } = await service.list(`/api/v2/${resource}`, { [filter]: value, limit: '2' });
  return records.map((record) => String(record.id));
}

/** The stage in the given pipeline; without one, in the oldest that has it. */
function stageIds(text: string, pipelines: readonly Pipeline[], pipelineId: string | undefined): Data {
  if (pipelineId !== undefined) {
    const pipeline = foundAs('pipeline', pipelineNamed(pipelines, { id: pipelineId }));
    return { stage_id: foundAs('stage', stageNamed(pipeline, text)).id };
  }
  const oldest = foundAs('pipeline', pipelineNamed(pipelines, {}));
  const [other, ...more] = hasStage(oldest, text) ? [] : pipelines.filter((one) => hasStage(one, text));
  if (other === undefined) return { stage_id: foundAs('stage', stageNamed(oldest, text)).id };
  if (more.length > 0)
    throw nameError('stage', `several pipelines have a stage "${text}"; also send pipeline`);
  return { pipeline_id: other.id, stage_id: foundAs('stage', stageNamed(other, text)).id };
}

/** The pipeline of a deal that is changed. */
async function pipelineIdOf(dealId: string | undefined, service: Service): Promise<string | undefined> {
  if (dealId === undefined) return undefined;
  const { record } = await service.get(`/api/v2/deals/${encodeURIComponent(dealId)}`);
  return String(record.pipeline_id);
}

function hasStage(pipeline: Pipeline, text: string): boolean {
  return 'found' in stageNamed(pipeline, text);
}

function foundAs<T>(path: LookupKind, named: Named<T>): T {
  if ('found' in named) return named.found;
  const { code, message, choices } = named;
  throw nameError(path, [message, choices.join(', ')].join(' ').trim(), [], code);
}

// The interface has no list of users: those are known who own something that the key can read.
const OWNED = ['deals', 'companies', 'contacts', 'tasks'] as const;
const OWNED_RECORDS_MAX = 200;

async function ownerId(text: string, service: Service): Promise<string> {
  if (isOurId(text)) return text.trim();
  if (text.trim().toLowerCase() === 'me') return ownUserId(service);
  const wanted = text.trim().toLowerCase();
  const known = new Map<string, string>();
  for (const resource of OWNED) {
    const body = { limit: OWNED_RECORDS_MAX, fields: ['id'], include: ['owner'] };
    const { included } = await service.query(`/api/v2/${resource}/query`, body).catch(ignoreMissingScope);
    for (const { id, email, name } of Object.values(included.users ?? {})) {
      if ([email, name].some((one) => String(one).toLowerCase() === wanted)) return String(id);
      known.set(String(id), String(email ?? name));
    }
  }
  const others = [...known.values()].sort().join(', ');
  const message = `no owner of a recent record has the email or name "${text}"`;
  throw nameError('owner', others === '' ? message : `${message}; known: ${others}`, [
    'Send the ID of the user. A person sees the IDs with "crm users list".',
  ]);
}

function ignoreMissingScope(error: unknown): Pick<ServicePage, 'included'> {
  if (!(error instanceof ToolError) || error.code !== 'AUTH_INSUFFICIENT_SCOPE') throw error;
  return { included: {} };
}

async function ownUserId(service: Service): Promise<string> {
  const { record } = await service.get('/api/v2/authenticate');
  const user = isObject(record.key) ? record.key.user_id : null;
  if (typeof user === 'string') return user;
  throw nameError('owner', 'the API key belongs to the organization, not to a user, so "me" is nobody');
}

function nameError(
  path: LookupKind,
  message: string,
  steps: readonly string[] = [],
  code = 'VALIDATION_FAILED',
): ToolError {
  return new ToolError(code, `${path}: ${message}`, { steps });
}
