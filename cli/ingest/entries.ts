// What the readers of `crm ingest` give back: entries with the line they stand in, and the faults of the rest.
import type { Fault } from '../../db/model/faults.ts';
import { messageOf } from '../errors.ts';
import { formatCount } from '../terminal/format.ts';
import { neutralizeLine } from '../terminal/text.ts';
import { clip } from './people.ts';

/** Something wrong with an entry, which is left out, or with the file around it. */
export interface LineFault {
  line: number;
  message: string;
}

/** What readers come upon beside entries to store. */
export class Findings {
  readonly faults = new FaultList();
  /** Entries that are well-formed but tell nothing to store. */
  ignored = 0;
}

/** Takes a file in pieces and gives back the entries that are complete; what is wrong goes to its findings. */
export interface EntryReader<T> {
  /** Throws a CliError where the file is nothing of the kind, as `end` does. */
  push(chunk: Uint8Array): Iterable<T>;
  end(): Iterable<T>;
  /** How much of what `end` gives is taken, from 0 to 1; for readers that give nothing before. */
  share?(): number;
}

function lineFault(line: number, message: string): LineFault {
  return { line, message: clip(neutralizeLine(message), MESSAGE_CHARACTERS_MAX) };
}

const QUOTED_CHARACTERS_MAX = 60;
const MESSAGE_CHARACTERS_MAX = 400;

/** Text of the file as messages quote it: in quotes, short, and with no character that a terminal would obey. */
export function quoted(text: string): string {
  return JSON.stringify(clip(neutralizeLine(text), QUOTED_CHARACTERS_MAX));
}

/** Gathers the faults of one entry, so that all of them are told at once. */
export class FaultList {
  readonly faults: LineFault[] = [];
  /** What is told of entries that are stored all the same. */
  readonly notices: LineFault[] = [];

  add(line: number, message: string): void {
    this.faults.push(lineFault(line, message));
  }

  tell(line: number, message: string): void {
    this.notices.push(lineFault(line, message));
  }

  /** Text of at most that many code points; that it was longer is told, by the name of what it is. */
  clipped(line: number, name: string, text: string, charactersMax: number): string {
    const shown = clip(text, charactersMax);
    if (shown !== text) this.tell(line, `${name} was cut at ${formatCount(charactersMax)} characters`);
    return shown;
  }

  /** Adds faults of fields. */
  refuse(line: number, faults: readonly Fault[]): void {
    for (const { path, message } of faults) this.add(line, path === '' ? message : `${path} ${message}`);
  }

  /** The value that `read` gives, or undefined and a fault in that line. */
  attempt<T>(line: number, read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      this.add(line, messageOf(error));
      return undefined;
    }
  }
}
