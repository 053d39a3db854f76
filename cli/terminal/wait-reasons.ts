// Why a command waits, in words.
import { formatDuration } from './format.ts';
import { note } from './streams.ts';

const REASONS = {
  'rate limit': 'for the rate limit',
  'server error': 'because the server failed',
  unavailable: 'for the server to be ready',
  connection: 'for the server to respond',
} as const;

export interface Wait {
  seconds: number;
  reason: keyof typeof REASONS;
}

/** `waiting 12 s for the rate limit`. */
export function waitInWords({ seconds, reason }: Wait): string {
  return `waiting ${seconds < 1 ? 'a moment' : formatDuration(Math.ceil(seconds))} ${REASONS[reason]}`;
}

/** Prints to stderr what a command is waiting for. */
export function noteWait(wait: Wait): void {
  note(`crm: ${waitInWords(wait)}`);
}
