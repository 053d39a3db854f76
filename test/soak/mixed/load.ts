// A mixed load at a steady rate: each worker takes its steps one after another, drawn by how often they are to come.
import { Traffic, Unexpected } from './caller.ts';
import {
  batchContacts,
  createContact,
  getContact,
  listContacts,
  pageThroughContacts,
  updateContact,
} from './contacts.ts';
import {
  queryContacts,
  readChanges,
  readTimelines,
  searchContact,
  undeleteTask,
  upsertCompany,
} from './finds.ts';
import { abort, sendExcessRequest, sendRefusedRequests, tryWrongKeys } from './odd.ts';
import {
  changePipeline,
  createSegment,
  logInteraction,
  readTranscript,
  workOnDeal,
  writeNotes,
} from './others.ts';
import { workOnCompany, workOnPerson } from './v1.ts';
import { issueKeys, startWorkers, WORKERS_EACH, type Worker, type WorkerGroup } from './workers.ts';

type Step = (worker: Worker) => Promise<void>;

// How often each comes, of all together.
const STEPS: [Step, number][] = [
  [createContact, 200],
  [updateContact, 200],
  [getContact, 300],
  [listContacts, 60],
  [pageThroughContacts, 10],
  [batchContacts, 10],
  [workOnDeal, 15],
  [writeNotes, 10],
  [createSegment, 8],
  [changePipeline, 4],
  [logInteraction, 20],
  [readTranscript, 5],
  [searchContact, 20],
  [queryContacts, 10],
  [readTimelines, 10],
  [readChanges, 10],
  [upsertCompany, 10],
  [undeleteTask, 5],
  [workOnPerson, 12],
  [workOnCompany, 10],
  [tryWrongKeys, 2],
  [sendRefusedRequests, 6],
  [abort, 6],
];
const ALL = STEPS.reduce((total, [, weight]) => total + weight, 0);

// Twice what a worker sends, so that only who is greedy meets it.
const OWN_PART = 2;
const GREEDY_PAUSE_MS = 20;
const MINUTE_SECONDS = 60;

export interface LoadShape {
  organizations: number;
  /** Requests a second, all together. */
  rate: number;
}

/** The flags of a server under which nobody but the greedy one is refused for its limit. */
export function limitsFor({ organizations, rate }: LoadShape): string[] {
  const ofOrganization = Math.ceil((rate * MINUTE_SECONDS * OWN_PART) / organizations);
  return [
    '--key-limit',
    String(Math.ceil(ofOrganization / WORKERS_EACH)),
    '--org-limit',
    String(ofOrganization),
  ];
}

/** A load that goes on until it is ended. */
export class MixedLoad {
  readonly traffic = new Traffic();
  readonly #shape: LoadShape;
  readonly #keys: Awaited<ReturnType<typeof issueKeys>>;
  #running: Promise<unknown> = Promise.resolve();
  #isOver = false;

  private constructor(shape: LoadShape, keys: Awaited<ReturnType<typeof issueKeys>>) {
    this.#shape = shape;
    this.#keys = keys;
  }

  /** Makes the organizations of a load in a database. */
  static async prepare(db: string, shape: LoadShape): Promise<MixedLoad> {
    return new MixedLoad(shape, await issueKeys(db, shape.organizations));
  }

  /** Begins to send. */
  async start(url: string): Promise<void> {
    const group = await startWorkers(url, this.#keys, this.traffic);
    const pauseMs = (1_000 * group.workers.length) / this.#shape.rate;
    this.#running = Promise.all([
      ...group.workers.map((worker) => this.#work(worker, pauseMs)),
      this.#sendExcessRequest(group),
    ]);
  }

  /** Has all of them end their step and no more. */
  async end(): Promise<Traffic> {
    this.#isOver = true;
    await this.#running;
    return this.traffic;
  }

  async #work(worker: Worker, pauseMs: number): Promise<void> {
    const begun = performance.now();
    const traffic = worker.v2.traffic;
    // Its part of what all have sent so far: a step is of several requests.
    const count = this.#keys.keys.length;
    while (!this.#isOver) {
      await this.#try(() => drawn()(worker));
      const dueMs = (traffic.answered / count) * pauseMs - (performance.now() - begun);
      if (dueMs > 0) await Bun.sleep(dueMs * (0.5 + Math.random()));
    }
  }

  async #sendExcessRequest({ greedy }: WorkerGroup): Promise<void> {
    while (!this.#isOver) {
      await this.#try(() => sendExcessRequest(greedy));
      await Bun.sleep(GREEDY_PAUSE_MS);
    }
  }

  async #try(step: () => Promise<unknown>): Promise<void> {
    await step().catch((error: unknown) => {
      const text = error instanceof Unexpected ? error.message : Bun.inspect(error);
      this.traffic.unexpected.push(`${new Date().toISOString()} ${text}`);
    });
  }
}

function drawn(): Step {
  let place = Math.random() * ALL;
  for (const [step, weight] of STEPS) {
    place -= weight;
    if (place < 0) return step;
  }
  return getContact;
}
