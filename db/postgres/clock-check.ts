// An eye on the clock: the instants of records come from this machine's, the minutes of limits from the database's.
import type { PostgresAddress } from './address.ts';
import { type PostgresError, told } from './errors.ts';
import type { Rows } from './prepared-query.ts';

const SKEW_MS_MAX = 5_000;

/** What runs a statement. */
export interface Runner {
  run(text: string): Promise<Rows>;
}

/** Why a machine whose clock is too far off must not serve; null where it is not. */
export async function clockTrouble(
  address: PostgresAddress,
  runner: Runner,
  clock: () => number = Date.now,
): Promise<PostgresError | null> {
  const before = clock();
  const [row] = await runner.run('select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now');
  const after = clock();
  const now = Number(row?.now);
  // The database looked at its clock some time in between.
  const aheadMs = now < before ? before - now : Math.min(0, after - now);
  if (Math.abs(aheadMs) <= SKEW_MS_MAX) return null;
  const seconds = `${(Math.abs(aheadMs) / 1_000).toFixed(1)} s`;
  const nextSteps = [
    'set the clocks of both machines by NTP (timedatectl set-ntp true); what is served is up to date again within a minute.',
  ];
  const where = aheadMs > 0 ? 'ahead of' : 'behind';
  return told(
    address,
    `cannot be served from here: this machine's clock is ${seconds} ${where} its own`,
    nextSteps,
  );
}
