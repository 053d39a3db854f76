// IDs for names, where the command line takes names too: company, contact, owner, pipeline and stage.
import { type Data, isObject } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import {
  companyNamed,
  contactWithEmail,
  NameFault,
  type NameKind,
  type NameSource,
  ownerNamed,
  pipelineIdNamed,
  stageIds,
} from '../api/names.ts';
import { newOwners } from '../api/owners.ts';
import { type LookupKind, lookupsOf } from '../import/plan/headers.ts';
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
  try {
    return await foundIds(resource, names, service, known);
  } catch (error) {
    if (!(error instanceof NameFault)) throw error;
    const { kind, code, message, why } = error;
    const which = why === 'several' ? (WHICH[kind] ?? '') : '';
    throw new ToolError(code, `${kind}: ${message}${which}`, {
      steps: why === 'missing' ? (STEPS[kind] ?? []) : [],
    });
  }
}

const WHICH: Partial<Record<NameKind, string>> = {
  company: '; send company_id',
  stage: '; also send pipeline',
};
const STEPS: Partial<Record<NameKind, string[]>> = {
  company: ['Find it with search, or create it with upsert.'],
  contact: ['Find the contact with search, and send its ID.'],
  owner: ['Send the ID of the user. A person sees the IDs with "crm users list".'],
};

async function foundIds(
  resource: Resource,
  names: ReadonlyMap<LookupKind, string>,
  service: Service,
  known: KnownOfRecord,
): Promise<Data> {
  const found: Data = {};
  const fields = namesOf(resource);
  const source = sourceIn(service);
  const put = async (
    kind: LookupKind,
    find: (text: string, source: NameSource) => Promise<string>,
  ): Promise<void> => {
    const text = names.get(kind);
    const field = fields.get(kind);
    if (text !== undefined && field !== undefined) found[field] = await find(text, source);
  };
  await put('company', companyNamed);
  await put('contact', contactWithEmail);
  await put('owner', ownerNamed);
  const stage = names.get('stage');
  const name = names.get('pipeline');
  const pipelines = stage === undefined && name === undefined ? [] : await service.pipelines();
  if (name !== undefined) found.pipeline_id = pipelineIdNamed(name, pipelines);
  if (stage === undefined) return found;
  const pipelineId = found.pipeline_id ?? known.pipelineId ?? (await pipelineIdOf(known.id, service));
  return {
    ...found,
    ...stageIds(stage, pipelines, pipelineId === undefined ? undefined : String(pipelineId)),
  };
}

/** The pipeline of a deal that is changed. */
async function pipelineIdOf(dealId: string | undefined, service: Service): Promise<string | undefined> {
  if (dealId === undefined) return undefined;
  const { record } = await service.get(`/api/v2/deals/${encodeURIComponent(dealId)}`);
  return String(record.pipeline_id);
}

function sourceIn(service: Service): NameSource {
  return {
    list: (path, query) => service.list(path, query),
    pipelines: () => service.pipelines(),
    owners: (resource, known) =>
      newOwners(resource, known, async (body) => {
        const page = await service.query(`/api/v2/${resource}/query`, body).catch(ignoreMissingScope);
        return { users: Object.values(page.included.users ?? {}), nextCursor: page.nextCursor };
      }),
    ownUserId: async () => {
      const { record } = await service.get('/api/v2/authenticate');
      const user = isObject(record.key) ? record.key.user_id : null;
      return typeof user === 'string' ? user : null;
    },
  };
}

function ignoreMissingScope(error: unknown): Pick<ServicePage, 'included' | 'nextCursor'> {
  if (!(error instanceof ToolError) || error.code !== 'AUTH_INSUFFICIENT_SCOPE') throw error;
  return { included: {}, nextCursor: null };
}
