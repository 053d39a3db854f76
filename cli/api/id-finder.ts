// IDs for what people write in their place: short IDs, and names of companies, contacts, owners, pipelines and stages.
import { type Data, isObject } from '../../db/model/json.ts';
import { CliError, EXIT, isRefusal, usageError } from '../errors.ts';
import { isOurId } from '../input/record-id.ts';
import { idRangeOf } from '../input/short-id.ts';
import type { Client } from './client.ts';
import { includedIn, pageOf, recordOf } from './envelope.ts';
import { candidateLines, wholeId } from './find-id.ts';
import { commandForIds } from './ids.ts';
import {
  companyNamed,
  contactNamed,
  NameFault,
  type NameKind,
  type NameSource,
  onlyStage,
  ownerNamed,
  pipelineIdNamed,
  stageIds,
} from './names.ts';
import { newOwners } from './owners.ts';
import { listAt, pagesOf } from './pages.ts';
import type { Pipeline } from './pipelines.ts';

// What each kind of name names. Users and stages have no short IDs.
const NAMED: Readonly<Record<NameKind, string>> = {
  ...{ company: 'companies', contact: 'contacts', owner: 'users', pipeline: 'pipelines', stage: 'stages' },
};

// The interface has no list of users.
const OWNER_STEPS = [
  'for a user who owns nothing yet, use owner_id=ID. The operator of the server can list the IDs:',
  `${commandForIds('users')}   (on the server)`,
];

/** Finds IDs, and reads the pipelines once. */
export class IdFinder {
  readonly #client: Client;
  readonly #source: NameSource;
  #pipelines: Promise<Pipeline[]> | undefined;

  constructor(client: Client) {
    this.#client = client;
    this.#source = {
      list: async (path, query) => pageOf(await client.request('GET', path, { query })),
      pipelines: () => this.#allPipelines(),
      owners: (resource, known) => ownersOf(client, resource, known),
      ownUserId: () => ownUserId(client),
    };
  }

  /** The whole ID of a record of the resource (or of `users` or `stages`, which have no short ones). */
  wholeId(resource: string, text: string): Promise<string> {
    return wholeId(this.#client, resource, text);
  }

  /** The whole ID of a record of one of the resources. */
  async oneOf(resources: readonly string[], text: string): Promise<string> {
    let missing: unknown;
    for (const resource of resources) {
      try {
        return await this.wholeId(resource, text);
      } catch (error) {
        if (!isMissing(error)) throw error;
        missing = error;
      }
    }
    throw missing;
  }

  /** ID of what has this name, or this ID; of a stage in the given pipeline, or in the only one that has it. */
  async named(kind: NameKind, text: string, pipelineId?: string): Promise<string> {
    const word = text.trim();
    if (isOurId(word)) return word;
    return (await this.#withShortId(NAMED[kind], word)) ?? this.#find(kind, word, pipelineId);
  }

  /** What the name of a stage sets in a deal: the stage, and its pipeline unless that is given. */
  async stageOf(text: string, pipelineId: string | undefined): Promise<Record<string, string>> {
    if (isOurId(text)) return { stage_id: text };
    return explained(async () => ({ ...stageIds(text, await this.#allPipelines(), pipelineId) }));
  }

  #find(kind: NameKind, text: string, pipelineId?: string): Promise<string> {
    return explained(async () => {
      switch (kind) {
        case 'company':
          return companyNamed(text, this.#source);
        case 'contact':
          return contactNamed(text, this.#source);
        case 'owner':
          return ownerNamed(text, this.#source);
        case 'pipeline':
          return pipelineIdNamed(text, await this.#allPipelines());
        default:
          return onlyStage(text, await this.#allPipelines(), pipelineId);
      }
    });
  }

  // A name can look like a short ID.
  async #withShortId(resource: string, text: string): Promise<string | undefined> {
    if (idRangeOf(text) === undefined) return undefined;
    try {
      const id = await this.wholeId(resource, text);
      return id === text ? undefined : id;
    } catch (error) {
      if (!isMissing(error)) throw error;
      return undefined;
    }
  }

  #allPipelines(): Promise<Pipeline[]> {
    this.#pipelines ??= readPipelines(this.#client);
    return this.#pipelines;
  }
}

/** Whether no record has such an ID; refusals of the server say something else. */
export function isMissing(error: unknown): boolean {
  return error instanceof CliError && error.exitCode === EXIT.failed && !isRefusal(error);
}

/** All pipelines, the oldest first. */
export async function readPipelines(client: Client, signal?: AbortSignal): Promise<Pipeline[]> {
  const list = listAt('/api/v2/pipelines', { sort_direction: 'asc' }, signal);
  const pages = await Array.fromAsync(pagesOf(client, list));
  return pages.flatMap(({ records }) => records as Pipeline[]);
}

async function ownersOf(client: Client, resource: string, known: readonly string[]): Promise<Data[]> {
  const path = `/api/v2/${resource}/query`;
  try {
    return await newOwners(resource, known, async (body) => {
      const response = await client.request('POST', path, { body, idempotencyKey: null });
      const users = Object.values(includedIn(response).users ?? {});
      return { users, nextCursor: pageOf(response).nextCursor };
    });
  } catch (error) {
    if (!isRefusal(error, 403)) throw error;
    return [];
  }
}

async function ownUserId(client: Client): Promise<string | null> {
  const { key } = recordOf(await client.request('GET', '/api/v2/authenticate'));
  return isObject(key) && typeof key.user_id === 'string' ? key.user_id : null;
}

async function explained<T>(find: () => Promise<T>): Promise<T> {
  try {
    return await find();
  } catch (error) {
    throw error instanceof NameFault ? errorOf(error) : error;
  }
}

function errorOf({ kind, message, why, candidates }: NameFault): CliError {
  const text = `${kind}: ${message}`;
  const lists = `${commandForIds(NAMED[kind])}   (lists them)`;
  if (kind === 'owner' && why === 'missing') return new CliError(`${text}.`, { nextSteps: OWNER_STEPS });
  if (candidates.length > 0)
    return usageError(`${text}:\n${candidateLines(candidates)}`, `use ${kind}=ID with one of these IDs.`);
  if (why === 'several') return usageError(`${text}.`, 'also name the pipeline: pipeline=NAME.', lists);
  return new CliError(`${text}.`, { nextSteps: [lists] });
}
