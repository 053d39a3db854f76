// Formats words and numbers for people: counts, durations, sizes.
import { formatCount } from '../../db/model/text.ts';

export { formatCount };

/** `1 record`, `2 records`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : plural}`;
}

/** A duration for people: `8 s`, `2 min 5 s`, `1 h 20 min`. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** An estimate in minutes, rounded up: `less than a minute`, `2 min`, `1 h 20 min`, `2 h`. */
export function formatMinutes(minutes: number): string {
  if (minutes < 1) return 'less than a minute';
  const whole = Math.ceil(minutes);
  const [hours, rest] = [Math.floor(whole / 60), whole % 60];
  return [...(hours > 0 ? [`${hours} h`] : []), ...(rest > 0 || hours === 0 ? [`${rest} min`] : [])].join(
    ' ',
  );
}

/** A measured time: `0.41 s`, or `5 ms` if shorter than a tenth of a second. */
export function formatTime(seconds: number): string {
  return seconds < 0.1 ? `${Math.max(1, Math.round(seconds * 1_000))} ms` : `${seconds.toFixed(2)} s`;
}

/** `1.6 MB`, `310 kB`. */
export function formatBytes(bytes: number): string {
  if (bytes >= 1_000_000_000) return `${(bytes / 1_000_000_000).toFixed(1)} GB`;
  if (bytes >= 1_000_000) return `${(bytes / 1_000_000).toFixed(1)} MB`;
  return bytes >= 1_000 ? `${Math.round(bytes / 1_000)} kB` : `${bytes} B`;
}

/** A text that begins with a capital. */
export function withCapital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
