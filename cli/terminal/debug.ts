// Prints the output of --debug to stderr; everything goes through here, where secrets are removed again.
import { redact } from './redact.ts';
import { note } from './streams.ts';

let isOn = false;

/** Enables `debug` for the rest of the process. */
export function startDebugging(): void {
  isOn = true;
}

/** Whether debug output is enabled. */
export function isDebugging(): boolean {
  return isOn;
}

/** Prints marked lines for troubleshooting, if --debug is set. */
export function debug(text: string): void {
  if (isOn) note(redact(text).replace(/^/gm, 'debug: '));
}
