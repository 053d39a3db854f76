// `bun run soak:upgrades`: servers that take over from each other under load, without any client noticing.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeCertificate } from '../support/certificate.ts';
import { BINARY, Sandbox } from '../support/command.ts';
import { UpgradedServer } from '../support/upgrades.ts';
import { type UpgradeLedger, UpgradeLoad } from './upgrade-load.ts';

const USAGE = `bun run soak:upgrades [--upgrades N] [--seconds N]
  --upgrades  how many in all (100)
  --seconds   between two (2)
  --only      plain, threads, tls or tls-threads
  CRM_BIN_BEFORE names an older crm: a tenth are then from that one, with migrations`;

const TLS = ['--tls-cert', 'cert.pem', '--tls-key', 'key.pem'];
const VARIANTS: Readonly<Record<string, readonly string[]>> = {
  plain: [],
  threads: ['--readers', '2'],
  tls: TLS,
  'tls-threads': [...TLS, '--readers', '2'],
};
// An older one shares its port with certificates or threads only.
const OF_OLDER = ['threads', 'tls', 'tls-threads'];

let hasFailed = false;

function report(name: string, ms: readonly number[], ledger: UpgradeLedger): void {
  const { requests, failures, acknowledged, lost, doubled, unasked, longestMs } = ledger;
  const count = Object.values(requests).reduce((sum, one) => sum + one, 0);
  const isGood = failures.length + lost + doubled + unasked === 0 && acknowledged > 0;
  hasFailed ||= !isGood;
  const sorted = ms.toSorted((one, other) => one - other);
  const seconds = (value = 0) => (value / 1_000).toFixed(2);
  console.log(
    `${isGood ? 'ok  ' : 'BAD '} ${name}: ${ms.length} upgrades (median ${seconds(sorted[sorted.length >> 1])} s), ` +
      `${count} requests, ${failures.length} failed, longest ${seconds(longestMs)} s; ` +
      `${acknowledged} contacts acknowledged, ${lost} lost, ${doubled} doubled, ${unasked} unasked`,
  );
  for (const failure of failures.slice(0, 10)) console.log(`       ${failure}`);
}

async function upgrade(args: readonly string[], before: string, count: number, restMs: number) {
  const folder = mkdtempSync(join(tmpdir(), 'crm-upgrades-'));
  using sandbox = new Sandbox([before]);
  sandbox.env.CRM_DB = join(folder, 'crm.db');
  try {
    if (args.includes('--tls-cert')) makeCertificate(folder, 'crm');
    const key = await sandbox.ok(['init', '--org', 'Example']);
    const server = await UpgradedServer.start([before], folder, args);
    try {
      const load = new UpgradeLoad(server.url, key);
      for (let number = 0; number < count; number++) {
        await Bun.sleep(restMs * (0.5 + Math.random()));
        await server.upgrade([BINARY]);
      }
      await Bun.sleep(restMs);
      return { ms: server.ms, ledger: await load.end(server.db) };
    } finally {
      await server.stop();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      upgrades: { type: 'string', default: '100' },
      seconds: { type: 'string', default: '2' },
      only: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) return console.log(USAGE);
  const restMs = Number(values.seconds) * 1_000;
  const all = Number(values.upgrades);
  const older = process.env.CRM_BIN_BEFORE;
  const withMigration = older === undefined ? 0 : Math.round(all / 10);
  const isWanted = (name: string) => values.only === undefined || values.only === name;
  const ofOlder = OF_OLDER.filter(isWanted);
  for (let number = 0; number < withMigration && ofOlder.length > 0; number++) {
    const name = ofOlder[number % ofOlder.length] ?? '';
    const { ms, ledger } = await upgrade(VARIANTS[name] ?? [], older ?? '', 1, restMs);
    report(`${name}, from an older crm`, ms, ledger);
  }
  const wanted = Object.keys(VARIANTS).filter(isWanted);
  for (const [index, name] of wanted.entries()) {
    const left = all - withMigration;
    const count = Math.floor(left / wanted.length) + (index < left % wanted.length ? 1 : 0);
    const { ms, ledger } = await upgrade(VARIANTS[name] ?? [], BINARY, count, restMs);
    report(name, ms, ledger);
  }
  if (hasFailed) process.exitCode = 1;
}

await main();
