// Watches the clocks: record timestamps use this machine's clock, rate limits the database's.
import type { PostgresAddress } from './address.ts';
import { type PostgresError, postgresError } from './errors.ts';
import type { Rows } from './prepared-query.ts';

const SKEW_MS_MAX = 5_000;

/** Runs a statement. */
export interface Runner {
  run(text: string): Promise<Rows>;
}

/** Why a machine whose clock is too far off must not serve; null if it is close enough. */
export async function clockError(
  address: PostgresAddress,
  runner: Runner,
  clock: () => number = Date.now,
): Promise<PostgresError | null> {
  const before = clock();
  const [row] = await runner.run('select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now');
  const after = clock();
  const now = Number(row?.now);
  // The database read its clock at some time in between.
  const aheadMs = now < before ? before - now : Math.min(0, after - now);
  if (Math.abs(aheadMs) <= SKEW_MS_MAX) return null;
  const seconds = `${(Math.abs(aheadMs) / 1_000).toFixed(1)} s`;
  const nextSteps = [
    'synchronize the clocks of both machines with NTP (timedatectl set-ntp true); crm checks again within a minute.',
  ];
  const where = aheadMs > 0 ? 'ahead of' : 'behind';
  return postgresError(
    address,
    `cannot be served from this machine: its clock is ${seconds} ${where} the database's`,
    nextSteps,
  );
}
