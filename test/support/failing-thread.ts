// A thread that answers as others do, and fails with an error that nobody catches when it is to drain.
import { parentPort } from 'node:worker_threads';
import '../../server/readers/thread.ts';

parentPort?.on('message', ([, kind]: readonly [number, string]) => {
  if (kind === 'drain') throw new Error('an error that nobody catches');
});
