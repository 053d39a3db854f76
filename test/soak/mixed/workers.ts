// The workers of a mixed load: some in each organization, each with records that no other one changes.
import { ingestReadOnly, runOnce } from '../service.ts';
import { Caller, type Traffic } from './caller.ts';

/** Sends one request after another, for records of its own. */
export interface Worker {
  number: number;
  v2: Caller;
  v1: Caller;
  /** A key that may read contacts and nothing else. */
  limitedKey: string;
  /** Its key is bound to a user. */
  isBound: boolean;
  company: string;
  person: string;
  /** Contacts of its company, the oldest first; what they are called was seen last. */
  contacts: { id: string; title: string }[];
  deals: string[];
  meeting: string;
  recording: string;
  /** What is counted here, so that names differ. */
  next: number;
}

export interface WorkerGroup {
  workers: Worker[];
  /** One who sends more than its key's limit lets in. */
  greedy: Caller;
}

type Keys = Pick<Worker, 'limitedKey' | 'isBound'> & { v1: string; v2: string };

/** How many each organization has. */
export const WORKERS_EACH = 5;

/** Makes the organizations with users, keys, a meeting and a transcript each, in a database without any. */
export async function issueKeys(
  db: string,
  organizations: number,
): Promise<{ keys: Keys[]; greedy: string }> {
  const run = (...args: string[]) => runOnce([...args, '--db', db]);
  const greedy = await run('init', '--org', 'Greedy');
  const keys: Keys[] = [];
  for (let number = 0; number < organizations; number++) {
    const org = ['--org', `Soak ${number}`];
    const user = `user${number}@soak.test`;
    await run('orgs', 'create', `Soak ${number}`);
    await run('users', 'create', user, ...org);
    const v1 = await run('keys', 'issue', ...org, '--api', 'v1', '--all-scopes');
    const limitedKey = await run('keys', 'issue', ...org, '--scopes', 'contacts:read');
    for (let worker = 0; worker < WORKERS_EACH; worker++) {
      const isBound = worker === 0;
      const access = isBound ? ['--access', 'user', '--user', user] : [];
      const v2 = await run('keys', 'issue', ...org, '--all-scopes', ...access);
      keys.push({ v1, v2, limitedKey, isBound });
    }
    await ingestReadOnly(db, [...org, '--owner', user]);
  }
  return { keys, greedy };
}

/** Has each worker create its company and a contact, and find the meeting and its recording. */
export async function startWorkers(
  url: string,
  { keys, greedy }: Awaited<ReturnType<typeof issueKeys>>,
  traffic: Traffic,
): Promise<WorkerGroup> {
  const workers = keys.map(async ({ v1, v2: key, ...rest }, number): Promise<Worker> => {
    const v2 = new Caller(url, '/api/v2', key, traffic);
    const first = async (path: string): Promise<string> => (await v2.send('GET', path, 200)).body.data[0].id;
    const make = async (path: string, body: object): Promise<string> =>
      (await v2.send('POST', path, 201, { body })).body.data.id;
    const company = await make('/companies', { name: `Worker ${number}`, domain: `worker${number}.test` });
    return {
      ...rest,
      ...{ number, v2, company, contacts: [], deals: [], next: 0 },
      v1: new Caller(url, '/api/v1', v1, traffic),
      person: await make('/contacts', { email: `person${number}@soak.test` }),
      meeting: await first('/meetings'),
      recording: await first('/recordings'),
    };
  });
  return { workers: await Promise.all(workers), greedy: new Caller(url, '/api/v2', greedy, traffic) };
}
