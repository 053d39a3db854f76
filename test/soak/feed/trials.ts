// What happens to servers while consumers follow the log of changes: kills, restarts, takeovers, a restore, two nodes.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { NO_LIMITS, Node, runOnce } from '../service.ts';
import { type Amount, Followed, type FollowedFigures } from './followed.ts';

export interface TrialExtent {
  /** How often everything happens. */
  rounds: number;
  /** Between two events, in milliseconds. */
  restMs: number;
  amount: Amount;
}

/** One server on a file: killed, restarted, taken over, and set back to a backup. */
export async function followOneServer(
  folder: string,
  { rounds, restMs, amount }: TrialExtent,
): Promise<FollowedFigures> {
  const [db, backup] = [join(folder, 'crm.db'), join(folder, 'backup.db')];
  const node = await Node.prepare(db, [...NO_LIMITS, '--drain-seconds', '0']);
  try {
    const followed = await Followed.prepare(db, [node]);
    await node.start();
    await followed.start();
    const events = [() => node.kill().then(() => node.start()), () => restart(node), () => node.takeOver()];
    const allEvents = async () => {
      for (const event of events) {
        await Bun.sleep(restMs);
        await event();
      }
      await Bun.sleep(restMs);
    };
    for (let round = 0; round < rounds; round++) {
      await followed.load(amount, allEvents);
      await runOnce(['backup', backup, '--quiet', '--db', db]);
      await followed.load(amount, () => Bun.sleep(restMs));
      await node.stop();
      await runOnce(['restore', backup, '--confirm', '--quiet', '--db', db]);
      rmSync(backup);
      await node.start();
    }
    await followed.load(amount, allEvents);
    return await followed.end();
  } finally {
    await node.kill();
  }
}

/** Two nodes on PostgreSQL, of which one after the other is killed; consumers ask the second. */
export async function followTwoNodes(
  db: string,
  { rounds, restMs, amount }: TrialExtent,
): Promise<FollowedFigures> {
  const nodes = [await Node.prepare(db, NO_LIMITS), await Node.prepare(db, NO_LIMITS)];
  try {
    const followed = await Followed.prepare(db, nodes);
    await Promise.all(nodes.map((node) => node.start()));
    await followed.start();
    await followed.load(amount, async () => {
      for (let round = 0; round < rounds; round++) {
        for (const node of nodes) {
          await Bun.sleep(restMs);
          await node.kill();
          await Bun.sleep(restMs);
          await node.start();
        }
      }
      await Bun.sleep(restMs);
    });
    return await followed.end();
  } finally {
    for (const node of nodes) await node.kill();
  }
}

async function restart(node: Node): Promise<void> {
  await node.stop();
  await node.start();
}
