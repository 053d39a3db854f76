// The limits of several nodes by their real clocks, over several minutes: how many were let in, in each.
import { runOnce, startService } from './service.ts';

const KEY_LIMIT = 200;
const ORG_LIMIT = 500;
const KEYS = 4;
const CLIENTS_EACH = 3;
const MINUTE_MS = 60_000;
const PAUSE_MS = 15;

/** What was let in, in a minute through which there were more requests than the limits let in. */
export interface Minute {
  /** Unix seconds at which it ends, as the answers told. */
  reset: number;
  ofOrganization: number;
  /** Of each key. */
  ofKeys: number[];
  refused: number;
}

/** Sends as much as it can until so many whole minutes are over; gives those. */
export async function measureLimits(db: string, minutes: number): Promise<Minute[]> {
  const limits = ['--key-limit', String(KEY_LIMIT), '--org-limit', String(ORG_LIMIT)];
  const service = await startService(db, 2, limits);
  const issue = ['keys', 'issue', '--org', 'Soak', '--all-scopes', '--db', db];
  const keys = await Promise.all(Array.from({ length: KEYS }, () => runOnce(issue)));
  const endAt = (Math.floor(Date.now() / MINUTE_MS) + 1 + minutes) * MINUTE_MS;
  const answers: { key: number; status: number; reset: number }[] = [];
  const client = async (key: number) => {
    for (let turn = 0; Date.now() < endAt; turn++) {
      const { url } = service.nodes[turn % service.nodes.length] ?? { url: '' };
      const response = await fetch(`${url}/api/v2/contacts?limit=1`, {
        headers: { 'X-Service-Api-Key': keys[key] ?? '' },
      });
      await response.arrayBuffer();
      const { status, headers } = response;
      answers.push({ key, status, reset: Number(headers.get('X-RateLimit-Reset')) });
      if (status === 429) await Bun.sleep(PAUSE_MS);
    }
  };
  await Promise.all(keys.flatMap((_, key) => Array.from({ length: CLIENTS_EACH }, () => client(key))));
  await service.kill();
  const byReset = Map.groupBy(answers, ({ reset }) => reset);
  const resets = [...byReset.keys()].toSorted((a, b) => a - b);
  // Those at both ends were not whole.
  return resets.slice(1, 1 + minutes).map((reset) => {
    const all = byReset.get(reset) ?? [];
    const admitted = all.filter(({ status }) => status === 200);
    return {
      reset,
      ofOrganization: admitted.length,
      ofKeys: keys.map((_, key) => admitted.filter((one) => one.key === key).length),
      refused: all.length - admitted.length,
    };
  });
}

/** Whether the limits were kept to the last request, and used up. */
export function isExact({ ofOrganization, ofKeys, refused }: Minute): boolean {
  return ofOrganization === ORG_LIMIT && ofKeys.every((count) => count <= KEY_LIMIT) && refused > 0;
}
