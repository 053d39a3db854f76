// Organizations as they are shown: the settings only where one has a value.
import type { OrganizationRow } from '../../db/engine/schema.ts';
import type { Data } from '../../db/model/json.ts';
import { isoTime } from '../database/database.ts';
import type { Config } from '../settings/config.ts';
import { durationText } from '../settings/options.ts';
import { printRecord } from '../terminal/output.ts';

/** The fields that are shown of each organization. */
export const OWN_FIELDS = ['id', 'name', 'created_at'];

const SETTINGS: Readonly<Record<string, (row: OrganizationRow) => string | number | null>> = {
  key_expiry: ({ key_lifetime }) => (key_lifetime === null ? null : durationText(key_lifetime)),
  requests_per_minute: ({ requests_per_minute }) => requests_per_minute,
};

/** The settings that at least one of the organizations has. */
export function settingsOf(rows: readonly OrganizationRow[]): string[] {
  const names = Object.keys(SETTINGS);
  return names.filter((name) => rows.some((row) => SETTINGS[name]?.(row) != null));
}

/** An organization as shown, with these settings. */
export function presented(row: OrganizationRow, settings: readonly string[]): Data {
  const { id, name, created_at } = row;
  const values = settings.map((setting) => [setting, SETTINGS[setting]?.(row) ?? null]);
  return { id, name, created_at: isoTime(created_at), ...Object.fromEntries(values) };
}

/** Prints one organization with its settings. */
export async function printOrganization(config: Config, row: OrganizationRow): Promise<void> {
  const settings = settingsOf([row]);
  const fields = [...OWN_FIELDS, ...settings];
  await printRecord(config, presented(row, settings), { columns: fields, allFields: fields });
}
