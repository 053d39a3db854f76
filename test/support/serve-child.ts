// A server in a process of its own, for tests that kill it or take its disk: `bun serve-child.ts DATABASE [LOG]` prints its URL.
import type { LogStyle } from '../../server/logging/logger.ts';
import { startServer } from '../../server/serve.ts';

const options = { host: '127.0.0.1', port: 0, keyLimit: 1e6, orgLimit: 1e6 };
const [db = '', log = 'off'] = process.argv.slice(2);
const server = await startServer({ db, log: log as LogStyle, ...options });
process.on('SIGTERM', () => {
  server.stop().then(
    () => process.exit(0),
    () => process.exit(1),
  );
});
console.log(server.url);
