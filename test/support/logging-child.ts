// A server that logs, in a process of its own, and ends at SIGUSR2 in the given way: `bun logging-child.ts DATABASE HOW`.
import { startServer } from '../../server/serve.ts';

const [db = '', how = ''] = process.argv.slice(2);
const ENDS: Record<string, () => unknown> = {
  exit: () => process.exit(7),
  error: () => {
    throw new Error('an error that nobody catches');
  },
  rejection: () => Promise.reject(new Error('a rejection that nobody catches')),
};

const options = { host: '127.0.0.1', port: 0, keyLimit: 1e6, orgLimit: 1e6 };
const server = await startServer({ db, log: 'json', ...options });
process.on('SIGUSR2', () => ENDS[how]?.());
console.log(server.url);
