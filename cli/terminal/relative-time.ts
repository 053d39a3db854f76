// Times as people say them: how long ago, or in how long.

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
// What is further away has a date.
const DAYS_MAX = 30;

/** `now`, `5 min ago`, `in 3 h`, `2 days ago`, or the date (UTC) of what is more than a month away. */
export function relativeTime(ms: number, nowMs: number): string {
  const distance = Math.abs(nowMs - ms);
  if (distance < MINUTE_MS) return 'now';
  if (distance >= DAYS_MAX * DAY_MS) return new Date(ms).toISOString().slice(0, 'YYYY-MM-DD'.length);
  const text = distanceText(distance);
  return ms > nowMs ? `in ${text}` : `${text} ago`;
}

function distanceText(distance: number): string {
  if (distance < HOUR_MS) return `${Math.floor(distance / MINUTE_MS)} min`;
  if (distance < DAY_MS) return `${Math.floor(distance / HOUR_MS)} h`;
  const days = Math.floor(distance / DAY_MS);
  return days === 1 ? '1 day' : `${days} days`;
}
