// `bun run soak:secrets`: what is left of keys and tokens in files, logs, metrics, outputs and arguments, which is nothing.
import { parseArgs } from 'node:util';
import { BINARY } from '../support/command.ts';
import { PostgresServer } from '../support/postgres.ts';
import { Search, type Secret } from './secrets/needles.ts';
import { runOnce } from './service.ts';
import { exitWithVerdict, report, show } from './verdict.ts';

const USAGE = `bun run soak:secrets [--postgres]
  --postgres  on a PostgreSQL server of its own, all of whose files are searched too`;

const LOG_FILE = ['--log-file', 'requests.log'];

async function main(): Promise<void> {
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({ options: { postgres: flag, help: flag } });
  if (values.help) return console.log(USAGE);
  console.log(`${BINARY}: ${await runOnce(['version'])}`);
  const server = values.postgres ? await PostgresServer.start() : null;
  try {
    if (server !== null) process.env.CRM_TEST_DB = server.address();
    // It decides by the environment which engine its databases are on.
    const { journey } = await import('./secrets/journey.ts');
    const secrets: Secret[] = [];
    for (const log of ['json', 'pretty'] as const) {
      const readers = server === null ? ['--readers', '2'] : [];
      const flags = log === 'pretty' ? readers : LOG_FILE;
      const found = await journey(log, [BINARY], { flags });
      secrets.push(...found.secrets);
      const { hits, places, bytes, spellings, failures, readable } = found;
      const where = `${places} places, ${(bytes / 1_048_576).toFixed(1)} MiB`;
      const what = `${spellings} spellings of ${found.secrets.length} keys and tokens`;
      report(
        `log as ${log}`,
        hits.length === 0 && failures > 0,
        `${hits.length} hits of ${what} in ${where}`,
      );
      show(
        hits.map(({ secret, spelling, place }) => `${secret}, ${spelling}: ${place}`),
        40,
      );
      console.log(`       ${failures} answers with 5xx on the way`);
      report('files for their owner alone', readable.length === 0, `${readable.length} that others may read`);
      show(readable);
    }
    if (server !== null) reportServer(server, secrets);
  } finally {
    await server?.close();
  }
  exitWithVerdict();
}

function reportServer(server: PostgresServer, secrets: readonly Secret[]): void {
  const search = new Search(secrets);
  search.inFolder(server.folder);
  const { hits, places, bytes } = search;
  report(
    "PostgreSQL's files",
    hits.length === 0,
    `${hits.length} hits in ${places} files, ${(bytes / 1_048_576).toFixed(1)} MiB`,
  );
  show(hits.map(({ secret, spelling, place }) => `${secret}, ${spelling}: ${place}`));
}

await main();
