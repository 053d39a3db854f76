// `bun run soak:kills`: a server that is killed again and again as it writes, and what of its word it has kept.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BINARY } from '../support/command.ts';
import { PostgresServer } from '../support/postgres.ts';
import { Kills } from './killed/cycles.ts';
import { Ledger } from './killed/ledger.ts';
import { NO_LIMITS, Node, runOnce } from './service.ts';
import { exitWithVerdict, report, show } from './verdict.ts';

const USAGE = `bun run soak:kills [--cycles N] [--readers N] [--postgres]
  --cycles    how often the server is killed (1000)
  --readers   threads that answer, in every other cycle (2)
  --postgres  on a PostgreSQL server of its own`;

async function main(): Promise<void> {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    options: {
      cycles: { ...text, default: '1000' },
      readers: { ...text, default: '2' },
      ...{ postgres: flag, help: flag },
    },
  });
  if (values.help) return console.log(USAGE);
  const cycles = Number(values.cycles);
  console.log(`${BINARY}: ${await runOnce(['version'])}, ${cycles} cycles`);
  const folder = mkdtempSync(join(tmpdir(), 'crm-soak-'));
  const server = values.postgres ? await PostgresServer.start() : null;
  try {
    const db = server?.address() ?? join(folder, 'crm.db');
    const key = await runOnce(['init', '--org', 'Kills', '--db', db]);
    const node = await Node.prepare(db, NO_LIMITS);
    const ledger = new Ledger();
    const kills = new Kills({ db, folder, key, node, ledger }, server === null ? Number(values.readers) : 0);
    await kills.run(cycles, (text) => console.log(`     ${text}`));
    const { acknowledged, faults, summary } = ledger;
    report(`${cycles} cycles`, faults.length === 0 && acknowledged > 0, `${summary}; ${kills.told}`);
    show(faults);
  } finally {
    await server?.close();
    rmSync(folder, { recursive: true });
  }
  exitWithVerdict();
}

await main();
