// IDs for names: of companies, contacts, owners, pipelines and stages, as people and assistants write them.

import type { Data } from '../../db/model/json.ts';
import { clip, isDomain, singularOf } from '../../db/model/text.ts';
import { isOurId } from '../input/record-id.ts';
import { lengthFault } from './name-lengths.ts';
import { type Named, type Pipeline, pipelineNamed, stageNamed } from './pipelines.ts';
import { nameOf } from './record-name.ts';

/** What can be named instead of its ID. */
export const NAME_KINDS = ['company', 'contact', 'owner', 'pipeline', 'stage'] as const;
export type NameKind = (typeof NAME_KINDS)[number];

/** How a reference to these (a resource, `users` or `stages`) is named; undefined if it takes an ID only. */
export function nameKindOf(references: string): NameKind | undefined {
  const noun = references === 'users' ? 'owner' : singularOf(references);
  return NAME_KINDS.find((kind) => kind === noun);
}

/** Where names are looked up. */
export interface NameSource {
  list(path: string, query: Record<string, string>): Promise<{ records: Data[]; nextCursor: string | null }>;
  /** All pipelines, the oldest first. */
  pipelines(): Promise<Pipeline[]>;
  /** Users who own records of a resource and are not among those known; none if the key cannot read these. */
  owners(resource: string, known: readonly string[]): Promise<Data[]>;
  /** The user of the key; null if it belongs to the organization. */
  ownUserId(): Promise<string | null>;
}

/** Why a name stands for nothing. */
export class NameFault extends Error {
  readonly kind: NameKind;
  readonly code: string;
  /** Whether nothing has the name, several have it, or something else is wrong. */
  readonly why: 'missing' | 'several' | 'other';
  /** Some of the records that have the name. */
  readonly candidates: readonly Data[];

  constructor(
    kind: NameKind,
    message: string,
    {
      code = 'VALIDATION_FAILED',
      why = 'other',
      candidates = [],
    }: { code?: string; why?: NameFault['why']; candidates?: readonly Data[] } = {},
  ) {
    super(message);
    this.kind = kind;
    this.code = code;
    this.why = why;
    this.candidates = candidates;
  }
}

/** ID of the company with this domain or name. */
export async function companyNamed(text: string, source: NameSource): Promise<string> {
  const byDomain =
    text.includes('.') && isDomain(text) ? await recordsWith('companies', 'domain', text, source) : [];
  const candidates = byDomain.length > 0 ? byDomain : await recordsWith('companies', 'name', text, source);
  const [found] = candidates;
  if (candidates.length > 1)
    throw new NameFault('company', `several companies are named "${clip(text)}"`, {
      why: 'several',
      candidates,
    });
  if (found !== undefined) return String(found.id);
  throw new NameFault('company', `no company has the name or domain "${clip(text)}"`, { why: 'missing' });
}

/** ID of the contact with this email. */
export async function contactWithEmail(text: string, source: NameSource): Promise<string> {
  const [found] = await recordsWith('contacts', 'email', text, source);
  if (found !== undefined) return String(found.id);
  throw new NameFault('contact', `no contact has the email "${clip(text)}"`, { why: 'missing' });
}

const FOUND_MAX = 50;
const FOUND_PAGES_MAX = 20;

/** ID of the contact with this email or, as a search finds it, this whole name. */
export async function contactNamed(text: string, source: NameSource): Promise<string> {
  if (text.includes('@')) return contactWithEmail(text, source);
  refuseLong('contact', text);
  const wanted = text.trim().toLowerCase();
  const found = await foundContacts(text, source);
  const candidates = found.filter((record) => nameOf(record)?.toLowerCase() === wanted);
  const [only] = candidates;
  if (candidates.length > 1)
    throw new NameFault('contact', `several contacts are named "${clip(text)}"`, {
      why: 'several',
      candidates,
    });
  if (only !== undefined) return String(only.id);
  throw new NameFault('contact', `no contact has the name or email "${clip(text)}"`, { why: 'missing' });
}

// A page of a search can be empty although there is more.
async function foundContacts(text: string, source: NameSource): Promise<Data[]> {
  const query = { q: text, types: 'contacts', limit: String(FOUND_MAX) };
  const found: Data[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < FOUND_PAGES_MAX && found.length < FOUND_MAX; page++) {
    const read = await source.list('/api/v2/search', { ...query, ...(cursor !== null && { cursor }) });
    found.push(...read.records.map(({ record }) => record as Data));
    cursor = read.nextCursor;
    if (cursor === null) break;
  }
  return found;
}

const SAME_NAME_MAX = '10';

async function recordsWith(
  resource: string,
  filter: string,
  value: string,
  source: NameSource,
): Promise<Data[]> {
  refuseLong(resource === 'companies' ? 'company' : 'contact', value);
  const { records } = await source.list(`/api/v2/${resource}`, { [filter]: value, limit: SAME_NAME_MAX });
  return records;
}

function refuseLong(kind: NameKind, text: string): void {
  const fault = lengthFault(text);
  if (fault !== undefined) throw new NameFault(kind, fault.message, { code: fault.code });
}

// The interface has no list of users: those are known who own something that the key can read.
export const OWNED = ['deals', 'companies', 'contacts', 'tasks'] as const;

// Each asks for owners that the ones before did not show.
const ROUNDS_MAX = 10;

/** ID of the user with this email or name, if they own a record; `me` is the user of the key. */
export async function ownerNamed(text: string, source: NameSource): Promise<string> {
  const wanted = text.trim().toLowerCase();
  if (isOurId(wanted)) return wanted;
  if (wanted === 'me') return ownUser(source);
  const known = new Map<string, string>();
  for (const resource of OWNED) {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const before = known.size;
      for (const { id, email, name } of await source.owners(resource, [...known.keys()])) {
        if ([email, name].some((one) => String(one).toLowerCase() === wanted)) return String(id);
        known.set(String(id), String(email ?? name));
      }
      if (known.size === before) break;
    }
  }
  const others = [...known.values()].sort().join(', ');
  const message = `no owner of a record that the key can read has the email or name "${clip(text)}"`;
  throw new NameFault('owner', others === '' ? message : `${message}; known: ${others}`, { why: 'missing' });
}

async function ownUser(source: NameSource): Promise<string> {
  const id = await source.ownUserId();
  if (id !== null) return id;
  throw new NameFault(
    'owner',
    'this key is not bound to a user, so "me" has no meaning; name a user instead',
  );
}

/** What of a deal its stage says. */
export interface StageIds {
  /** Left out where it is known already. */
  pipeline_id?: string;
  stage_id: string;
}

/** The stage with this name in the given pipeline; without one, in the oldest that has it. */
export function stageIds(
  text: string,
  pipelines: readonly Pipeline[],
  pipelineId: string | undefined,
): StageIds {
  if (pipelineId !== undefined) {
    const pipeline = foundAs('pipeline', pipelineNamed(pipelines, { id: pipelineId }));
    return { stage_id: foundAs('stage', stageNamed(pipeline, text)).id };
  }
  const oldest = foundAs('pipeline', pipelineNamed(pipelines, {}));
  const [other, ...more] = hasStage(oldest, text) ? [] : pipelines.filter((one) => hasStage(one, text));
  if (other === undefined) return { stage_id: foundAs('stage', stageNamed(oldest, text)).id };
  if (more.length > 0) throw severalPipelines(text);
  return { pipeline_id: other.id, stage_id: foundAs('stage', stageNamed(other, text)).id };
}

/** The stage with this name, which only one pipeline has, if none is given. */
export function onlyStage(text: string, pipelines: readonly Pipeline[], pipelineId?: string): string {
  const having = pipelines.filter((one) => hasStage(one, text)).length;
  if (pipelineId === undefined && having > 1) throw severalPipelines(text);
  if (pipelineId === undefined && having === 0 && pipelines.length > 1) throw noPipeline(text, pipelines);
  return stageIds(text, pipelines, pipelineId).stage_id;
}

/** ID of the pipeline with this name. */
export function pipelineIdNamed(name: string, pipelines: readonly Pipeline[]): string {
  return foundAs('pipeline', pipelineNamed(pipelines, { name })).id;
}

function severalPipelines(text: string): NameFault {
  return new NameFault('stage', `several pipelines have a stage "${clip(text)}"`, { why: 'several' });
}

function noPipeline(text: string, pipelines: readonly Pipeline[]): NameFault {
  const names = new Set(pipelines.flatMap(({ stages }) => stages.map(({ name }) => name)));
  const message = `no pipeline has a stage "${clip(text)}"; the stages are ${[...names].join(', ')}`;
  return new NameFault('stage', message, { why: 'missing' });
}

function hasStage(pipeline: Pipeline, text: string): boolean {
  return 'found' in stageNamed(pipeline, text);
}

function foundAs<T>(kind: NameKind, named: Named<T>): T {
  if ('found' in named) return named.found;
  const { code, message, choices } = named;
  throw new NameFault(kind, [message, choices.join(', ')].join(' ').trim(), { code });
}
