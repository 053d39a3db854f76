// What --debug tells on stderr: all of it goes through here, where secrets are taken out once more.
import { redact } from './redact.ts';
import { note } from './streams.ts';

let isOn = false;

/** Makes `debug` tell what it is given, for the rest of the process. */
export function startDebugging(): void {
  isOn = true;
}

/** Whether there is anybody to tell. */
export function isDebugging(): boolean {
  return isOn;
}

/** Tells lines that help to find what went wrong, each marked as such, if --debug was given. */
export function debug(text: string): void {
  if (isOn) note(redact(text).replace(/^/gm, 'debug: '));
}
