// What the readers of `crm ingest` return: entries with their line, and the faults of the others.

import type { Fault } from '../../db/model/faults.ts';
import { clip } from '../../db/model/text.ts';
import { messageOf } from '../errors.ts';
import { formatCount } from '../terminal/format.ts';
import { neutralizeLine } from '../terminal/text.ts';

/** A fault of an entry, which is skipped, or of the file. */
export interface LineFault {
  line: number;
  message: string;
}

/** What readers find besides entries to store, and how far they are. */
export class Findings {
  readonly faults = new FaultList();
  /** The fraction of the entries that is read, from 0 to 1, by readers that need the whole file first. */
  share: number | undefined;
  /** Valid entries with nothing to store. */
  ignored = 0;
}

/** Reads the entries of a file; faults go to the findings. Throws a CliError if the file has another format. */
export type ReadEntries<T> = (
  chunks: AsyncIterable<Uint8Array>,
  name: string,
  findings: Findings,
) => AsyncGenerator<T>;

function lineFault(line: number, message: string): LineFault {
  return { line, message: clip(neutralizeLine(message), MESSAGE_CHARACTERS_MAX) };
}

const QUOTED_CHARACTERS_MAX = 60;
const MESSAGE_CHARACTERS_MAX = 400;

/** Text of the file for messages: in quotes, short, and without control characters. */
export function quoted(text: string): string {
  return JSON.stringify(clip(neutralizeLine(text), QUOTED_CHARACTERS_MAX));
}

/** Collects faults, so that all of them are reported at once. */
export class FaultList {
  readonly faults: LineFault[] = [];
  /** Notices about entries that are stored anyway. */
  readonly notices: LineFault[] = [];
  readonly #lines = new Set<number>();

  /** How many lines have faults: an entry may have several. */
  get lines(): number {
    return this.#lines.size;
  }

  add(line: number, message: string): void {
    this.#lines.add(line);
    this.faults.push(lineFault(line, message));
  }

  tell(line: number, message: string): void {
    this.notices.push(lineFault(line, message));
  }

  /** Text cut to a number of code points; adds a notice with the name of the field if it was longer. */
  clipped(line: number, name: string, text: string, charactersMax: number): string {
    const shown = clip(text, charactersMax);
    if (shown !== text) this.tell(line, `${name} was cut to ${formatCount(charactersMax)} characters`);
    return shown;
  }

  /** Adds faults of fields. */
  refuse(line: number, faults: readonly Fault[]): void {
    for (const { path, message } of faults) this.add(line, path === '' ? message : `${path} ${message}`);
  }

  /** The result of `read`, or undefined with a fault in this line. */
  attempt<T>(line: number, read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      this.add(line, messageOf(error));
      return undefined;
    }
  }
}
