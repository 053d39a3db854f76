// What a thread other than the writing one answers requests from: its own read-only connections.
import type { CommitCount } from '../counters/shared-memory.ts';
import { Connection } from './connection.ts';
import { withFileErrors } from './errors.ts';
import { KeyVersion } from './key-version.ts';
import { openReader, READER_BUSY_TIMEOUT_MS } from './open-store.ts';

/** Opens a file that another thread of this process has open for writing. */
export function threadStore(path: string, commits: CommitCount) {
  const reader = openReader(path);
  reader.setPragmas({ busy_timeout: READER_BUSY_TIMEOUT_MS });
  // Not the reader itself, which starts a snapshot for every query.
  const watcher = withFileErrors(path, () => new Connection(path, { readonly: true }));
  watcher.setPragmas({ busy_timeout: 0 });
  const keyVersion = new KeyVersion(watcher);
  let begunAt = commits.value;
  reader.onSnapshot = () => {
    begunAt = commits.value;
    keyVersion.look();
  };
  reader.isOutdated = () => commits.value !== begunAt;
  return {
    read: reader.db,
    deadline: null,
    endSnapshot: () => reader.endSnapshot(),
    keyVersion: () => keyVersion.enter(reader),
    close: () => {
      reader.close();
      watcher.close();
    },
  };
}
