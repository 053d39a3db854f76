// IDs for names, where the command line takes names too: company, contact, owner, pipeline and stage.
import { type Data, isObject } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import {
  companyNamed,
  contactNamed,
  contactWithEmail,
  NameFault,
  type NameKind,
  type NameSource,
  onlyStage,
  ownerNamed,
  pipelineIdNamed,
  stageIds,
} from '../api/names.ts';
import { newOwners } from '../api/owners.ts';
import type { Pipeline } from '../api/pipelines.ts';
import { nameOf } from '../api/record-name.ts';
import { type LookupKind, lookupsOf } from '../import/plan/headers.ts';
import { isOurId } from '../input/record-id.ts';
import { ToolError } from './failures.ts';
import { jsonLine } from './lines.ts';
import type { Service, ServicePage } from './service.ts';

/** The names that records of a resource can be given by, with the field of the ID. */
export const namesOf: (resource: Resource) => ReadonlyMap<LookupKind, string> = lookupsOf;

/** What each name is. */
export const NAME_DESCRIPTIONS: Readonly<Record<LookupKind, string>> = {
  company: 'Name or domain, instead of the ID',
  contact: 'Email, instead of the ID',
  owner: 'Email or name of a user who owns a record, or "me", instead of the ID',
  pipeline: 'Name, instead of pipeline_id',
  stage: 'Name, instead of stage_id',
};

/** What is known of the record beside the names. */
export interface KnownOfRecord {
  pipelineId?: string | undefined;
  /** Finds the record to change, if there is one. */
  existing?: (() => Promise<Data | undefined>) | undefined;
}

/** The fields with the IDs of what is named. */
export async function idsOfNames(
  resource: Resource,
  names: ReadonlyMap<LookupKind, string>,
  service: Service,
  known: KnownOfRecord,
): Promise<Data> {
  const found: Data = {};
  const source = sourceIn(service);
  const fields = namesOf(resource);
  for (const [kind, text] of names) {
    const field = fields.get(kind);
    if (kind === 'stage' || field === undefined) continue;
    found[field] =
      kind === 'contact'
        ? await toldAt(kind, () => contactWithEmail(text, source))
        : await idNamed(kind, text, kind, source);
  }
  const stage = names.get('stage');
  if (stage === undefined) return found;
  const pipelines = await source.pipelines();
  const given = found.pipeline_id ?? known.pipelineId ?? (await known.existing?.())?.pipeline_id;
  const pipelineId = given === undefined ? undefined : String(given);
  const ids = await toldAt('stage', async () => stageIds(stage, pipelines, pipelineId));
  return { ...found, ...ids };
}

/** ID of what has this name, or this ID: a name that stands for nothing is told at the path. */
export function idNamed(
  kind: NameKind,
  text: string,
  path: string,
  source: NameSource,
  pipelineId?: string,
): Promise<string> {
  return toldAt(path, async () => {
    if (isOurId(text)) return text;
    switch (kind) {
      case 'company':
        return companyNamed(text, source);
      case 'contact':
        return contactNamed(text, source);
      case 'owner':
        return ownerNamed(text, source);
      case 'pipeline':
        return pipelineIdNamed(text, await source.pipelines());
      default:
        return onlyStage(text, await source.pipelines(), pipelineId);
    }
  });
}

/** What a look-up finds; why it finds nothing, and what the server refuses in it, is told at the path. */
async function toldAt<T>(path: string, find: () => Promise<T>): Promise<T> {
  try {
    return await find();
  } catch (error) {
    if (error instanceof NameFault) throw errorAt(path, error);
    if (!(error instanceof ToolError && error.code.startsWith('VALIDATION_'))) throw error;
    const { code, message, details, requestId } = error;
    const [detail = { message }] = details;
    throw new ToolError(code, `${path}: ${detail.message}`, { requestId });
  }
}

function errorAt(path: string, { kind, code, message, why, candidates }: NameFault): ToolError {
  const which = why === 'several' ? (WHICH[kind] ?? '') : '';
  return new ToolError(code, `${path}: ${message}${which}`, {
    details: candidates.map((record) => ({ message: candidateLine(record) })),
    steps: why === 'missing' ? (STEPS[kind] ?? []) : [],
  });
}

function candidateLine(record: Data): string {
  const { id, domain, email, city } = record;
  const known = Object.entries({ id, name: nameOf(record), domain, email, city });
  return jsonLine(Object.fromEntries(known.filter(([, value]) => value != null)));
}

const WHICH: Partial<Record<NameKind, string>> = {
  company: '; send company_id, the ID of one of these',
  contact: '; send the ID of one of these',
  stage: '; also send pipeline',
};
const STEPS: Partial<Record<NameKind, string[]>> = {
  company: ['Find it with search, or create it with upsert.'],
  contact: ['Find the contact with search, and send its ID.'],
  owner: ['Send the ID of the user. A person sees the IDs with "crm users list".'],
};

/** Where names are looked up; the pipelines are read once. */
export function sourceIn(service: Service): NameSource {
  let pipelines: Promise<Pipeline[]> | undefined;
  return {
    list: (path, query) => service.list(path, query),
    pipelines: () => {
      pipelines ??= service.pipelines();
      return pipelines;
    },
    owners: (resource, known) =>
      newOwners(resource, known, async (body) => {
        const page = await service.query(`/api/v2/${resource}/query`, body).catch(nothingWithoutScope);
        return { users: Object.values(page.included.users ?? {}), nextCursor: page.nextCursor };
      }),
    ownUserId: async () => {
      const { record } = await service.get('/api/v2/authenticate');
      const user = isObject(record.key) ? record.key.user_id : null;
      return typeof user === 'string' ? user : null;
    },
  };
}

/** An empty page for a refusal because of a missing scope; any other error is thrown. */
export function nothingWithoutScope(error: unknown): ServicePage {
  if (!(error instanceof ToolError) || error.code !== 'AUTH_INSUFFICIENT_SCOPE') throw error;
  return { records: [], included: {}, nextCursor: null };
}
