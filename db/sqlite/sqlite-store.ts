// The store on SQLite: one connection that writes in groups, one that reads, and checks of the files of both.
import { CommitCount, type SharedMemory } from '../counters/shared-memory.ts';
import type { DatabaseError } from '../database-error.ts';
import { ProcessSignals } from '../engine/change-signals.ts';
import { Histogram, SECONDS_BUCKETS } from '../engine/histogram.ts';
import type { Trx } from '../engine/schema.ts';
import type { StoreStats } from '../engine/store-stats.ts';
import { closedHere, type Scope, WriteQueue } from '../engine/write-queue.ts';
import { fileChanges } from './change-source.ts';
import { checkpoint, checkpointAll, isCheckpointDue } from './checkpoint.ts';
import type { Connection } from './connection.ts';
import { fileBytes, freeBytesAt, isDiskFull } from './disk-space.ts';
import { diskFull, isDiskFailure } from './errors.ts';
import { FileGuard } from './file-guard.ts';
import { KeyVersion } from './key-version.ts';
import { openReader, READER_BUSY_TIMEOUT_MS } from './open-store.ts';
import type { RawFile } from './raw-file.ts';
import { sqliteTransactor } from './transactor.ts';
import { isLeftOpen, leaveOpen } from './unclosed-connections.ts';

const CHECKPOINT_LOOK_MS = 10;

export interface StoreEvents {
  /** Called when the disk of the database fails: the process must exit, and a restart recovers. */
  onDiskFailure?: (error: unknown) => void;
  /** Called when the database files are damaged or missing, and with null once that is over; writes fail until then. */
  onTrouble?: (trouble: DatabaseError | null) => void;
  /** Memory shared with other threads that answer requests from the same file. */
  common?: SharedMemory;
}

/** Makes the store of a database with the current schema; `held` is its file. */
export function sqliteStore(writer: Connection, held: RawFile, events: StoreEvents) {
  const path = writer.filename;
  const reader = openReader(path);
  const { onTrouble, common } = events;
  const commits = common && new CommitCount(common);
  let diskFailure: unknown = null;
  const onDiskFailure = (error: unknown) => {
    diskFailure = error;
    leaveOpen(writer);
    events.onDiskFailure?.(error);
  };
  // While another process writes, jobs retry between turns of the event loop.
  writer.setPragmas({ busy_timeout: 0 });
  reader.setPragmas({ busy_timeout: READER_BUSY_TIMEOUT_MS });
  const guard = new FileGuard(writer, held);
  const keyVersion = new KeyVersion(writer);
  // Before the snapshot, so that the data is at least as new as the mark.
  reader.onSnapshot = () => keyVersion.look();
  // The next commit is the last one before a checkpoint.
  let isDue = false;
  const checkpointSeconds = new Histogram(SECONDS_BUCKETS);
  // Checking the length of the log costs as much as several writes.
  let looksAt = 0;
  if (onTrouble !== undefined) guard.watch(onTrouble);
  const signals = new ProcessSignals(fileChanges(writer, reader));
  const queue: WriteQueue = new WriteQueue(
    sqliteTransactor(writer, {
      beforeCommit: () => {
        if (diskFailure !== null) throw diskFailure;
        assertUntroubled(guard);
        guard.mark(isDue);
      },
      onCommit: () => {
        keyVersion.onCommit();
        guard.onCommit();
        reader.endSnapshot();
        commits?.raise();
      },
      betweenGroups: () => {
        if (queue.isFailing) return;
        try {
          if (isDue) checkpointSeconds.add(secondsOf(() => checkpoint(writer)));
          else if (performance.now() < looksAt) return;
          isDue = isCheckpointDue(writer);
          looksAt = performance.now() + CHECKPOINT_LOOK_MS;
        } catch (error) {
          // A full disk is reported to the next job that needs space; the log contains what the file does not.
          if (isDiskFailure(error)) onDiskFailure(error);
        }
      },
      onDiskFailure,
    }),
    (last) => signals.heard(last),
  );
  let probe: Promise<void> | null = null;
  let closing: Promise<void> | null = null;
  const closeAll = async () => {
    await Promise.all([queue.close(), signals.close()]);
    guard.close();
    reader.close();
    closeWriter(writer, guard, held);
  };
  return {
    read: reader.db,
    write: <T>(scope: Scope, job: (trx: Trx) => Promise<T>) => queue.write(scope, job),
    deadline: null,
    // One process serves the file.
    isShared: common !== undefined,
    alone: (job: () => Promise<void>) => job(),
    signals,
    endSnapshot: () => reader.endSnapshot(),
    keyVersion: () => keyVersion.enter(reader),
    ready: async () => {
      if (closing !== null) throw closedHere();
      assertUntroubled(guard);
      if (isDiskFull(path)) throw diskFull(path);
      if (queue.isFailing) {
        guard.markNext();
        probe ??= queue
          .write('accounts', async () => undefined)
          .finally(() => {
            probe = null;
          });
        await probe;
      }
      await reader.db.selectFrom('settings').select('name').limit(1).execute();
    },
    stats: async (): Promise<StoreStats> => ({
      engine: 'sqlite',
      writes: queue.stats,
      waitingJobs: queue.waitingJobs,
      databaseBytes: fileBytes(path),
      file: { logBytes: fileBytes(`${path}-wal`), freeBytes: freeBytesAt(path), checkpointSeconds },
      pools: [],
    }),
    close: () => {
      closing ??= closeAll();
      return closing;
    },
  };
}

function secondsOf(work: () => void): number {
  const begunAt = performance.now();
  work();
  return (performance.now() - begunAt) / 1_000;
}

function assertUntroubled(guard: FileGuard): void {
  const trouble = guard.trouble();
  if (trouble !== null) throw trouble;
}

function closeWriter(writer: Connection, guard: FileGuard, held: RawFile): void {
  guard.trouble();
  if (!guard.takesLog) leaveOpen(writer);
  if (isLeftOpen(writer)) return;
  try {
    guard.markEnd();
    checkpointAll(writer);
  } catch (error) {
    if (isDiskFailure(error)) {
      leaveOpen(writer);
      throw error;
    }
  }
  writer.close();
  held.release();
}
