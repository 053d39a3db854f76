// `bun run soak:fuzz`: a hundred thousand requests that nobody would think of, none of which may be too much for a server.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BINARY } from '../support/command.ts';
import { PostgresServer } from '../support/postgres.ts';
import { Fuzzing, OTHER_VERSION } from './fuzz/run.ts';
import { ingestReadOnly, NO_LIMITS, Node, runOnce } from './service.ts';
import { exitWithVerdict, report, show } from './verdict.ts';

const USAGE = `bun run soak:fuzz [--requests N] [--seed N] [--readers N] [--postgres]
  --requests  how many (100000)
  --seed      of what is drawn; another each time unless said
  --readers   threads that answer (0)
  --postgres  on a PostgreSQL server of its own`;

async function main(): Promise<void> {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    options: {
      requests: { ...text, default: '100000' },
      seed: { ...text, default: String(Date.now() % 1_000_000) },
      readers: { ...text, default: '0' },
      ...{ postgres: flag, help: flag },
    },
  });
  if (values.help) return console.log(USAGE);
  const [requests, seed, readers] = [Number(values.requests), Number(values.seed), Number(values.readers)];
  console.log(`${BINARY}: ${await runOnce(['version'])}, ${requests} requests, seed ${seed}`);
  const folder = mkdtempSync(join(tmpdir(), 'crm-soak-'));
  const server = values.postgres ? await PostgresServer.start() : null;
  try {
    const db = server?.address() ?? join(folder, 'crm.db');
    const v2 = await runOnce(['init', '--org', 'Fuzz', '--db', db]);
    const user = await runOnce([
      'users',
      'create',
      'user@fuzz.test',
      '--org',
      'Fuzz',
      '-o',
      'json',
      '--db',
      db,
    ]);
    const issue = ['keys', 'issue', '--org', 'Fuzz', '--api', 'v1', '--all-scopes', '--db', db];
    const v1 = await runOnce(issue);
    await ingestReadOnly(db, ['--org', 'Fuzz', '--owner', 'user@fuzz.test']);
    const log = join(folder, 'log');
    const flags = readers > 0 ? ['--readers', String(readers)] : [];
    const node = await Node.start(db, [...NO_LIMITS, ...flags], log);
    const { pid } = node;
    const fuzzing = new Fuzzing(node.url, { v1, v2 }, seed, JSON.parse(user).id);
    await fuzzing.run(requests);
    const { statuses, faults, sent } = fuzzing;
    const counts = [...statuses].toSorted(([one], [other]) => one - other).map((pair) => pair.join(': '));
    const serverErrors = [...statuses.keys()].filter((status) => status >= 500 && status !== OTHER_VERSION);
    report(
      'answers',
      faults.length === 0,
      `${sent} requests, ${serverErrors.length} 5xx, ${faults.length} faults`,
    );
    show(faults, 20);
    console.log(`       ${counts.join(', ')}; ${fuzzing.unanswered} cut off or closed without an answer`);
    await node.ready();
    const code = await node.stop();
    report('stopped', code === 0 && node.pid === pid, `exit code ${code}, by the process that was started`);
    const errors = (await Bun.file(log).text())
      .split('\n')
      .filter((line) => line.includes('"level":"error"'));
    report('log', errors.length === 0, `${errors.length} lines of errors`);
    show(errors);
  } finally {
    await server?.close();
    rmSync(folder, { recursive: true });
  }
  exitWithVerdict();
}

await main();
