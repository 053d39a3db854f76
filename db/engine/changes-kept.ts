// How long changes are kept: a setting of the database, which all nodes follow.

/** The setting with the number of days. */
export const CHANGES_DAYS = 'changes_days';
/** Days for which changes are kept unless the operator says otherwise. */
export const CHANGES_DAYS_DEFAULT = 30;

/** The days for which changes are kept, from the setting; 0 for none at all. */
export function changesDaysOf(setting: string | null | undefined): number {
  return Number(setting ?? CHANGES_DAYS_DEFAULT);
}

/** Whether changes are kept at all, from the setting. */
export function keepsChanges(setting: string | null | undefined): boolean {
  return changesDaysOf(setting) > 0;
}
