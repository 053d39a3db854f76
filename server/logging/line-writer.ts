// Buffers lines for stderr and writes them slightly later, so that requests never wait for the reader of the log.
import { constants, openSync, writeSync } from 'node:fs';

/** Writes as many bytes as possible without blocking and returns their number; @throws the system's error if none */
export type TryWrite = (bytes: Uint8Array) => number;

const WRITE_AFTER_MS = 10;
const RETRY_AFTER_MS = 100;
// A pipe takes this many bytes atomically (PIPE_BUF), so that lines of other writers do not end up in between.
const PIECE_BYTES_MAX = 4_096;
// Written at once.
const GATHERED_CHARACTERS_MAX = 64 * 1_024;
/** How much can wait for a slow or stuck reader; further lines are dropped and counted. */
export const WAITING_CHARACTERS_MAX = 4 * 1_024 * 1_024;
// Half of the last second of the ten seconds that a stop can take.
const END_MS_MAX = 500;
const END_RETRY_MS = 5;

export class LineWriter {
  readonly #tryWrite: TryWrite;
  readonly #lostLine: (count: number) => string;
  #lines: string[] = [];
  #characters = 0;
  /** The rest of a piece that was written partly. */
  #rest: Uint8Array | null = null;
  #lost = 0;
  #timer: NodeJS.Timeout | null = null;
  #isStuck = false;

  /** @param lostLine returns the line that reports a number of dropped lines */
  constructor(tryWrite: TryWrite, lostLine: (count: number) => string) {
    this.#tryWrite = tryWrite;
    this.#lostLine = lostLine;
  }

  /** Queues a line to be written soon. */
  add(line: string): void {
    if (this.#characters + (this.#rest?.byteLength ?? 0) + line.length > WAITING_CHARACTERS_MAX) {
      this.#lost += 1;
      return;
    }
    this.#tellLost();
    this.#keep(line);
    if (!this.#isStuck && this.#characters > GATHERED_CHARACTERS_MAX) this.flush();
    else if (this.#timer === null) this.#flushAfter(WRITE_AFTER_MS);
  }

  /** Writes everything that is waiting, as far as possible without blocking. */
  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#isStuck = this.#write() !== null;
    if (this.#isStuck) this.#flushAfter(RETRY_AFTER_MS);
  }

  /** Writes everything that is waiting; a slow reader gets half a second. */
  end(): void {
    this.#tellLost();
    const endsAt = performance.now() + END_MS_MAX;
    while (this.#write() === 'EAGAIN' && performance.now() < endsAt) Bun.sleepSync(END_RETRY_MS);
  }

  #keep(line: string): void {
    this.#lines.push(line);
    this.#characters += line.length;
  }

  #tellLost(): void {
    if (this.#lost === 0) return;
    this.#keep(this.#lostLine(this.#lost));
    this.#lost = 0;
  }

  #flushAfter(ms: number): void {
    this.#timer = setTimeout(() => this.flush(), ms);
    this.#timer.unref();
  }

  // Null once everything is written, otherwise the code of the error that stopped it.
  #write(): string | null {
    let written = 0;
    try {
      while (this.#rest !== null || written < this.#lines.length) {
        if (this.#rest === null) {
          const end = this.#endOfPiece(written);
          this.#rest = Buffer.from(`${this.#lines.slice(written, end).join('\n')}\n`);
          written = end;
        }
        const taken = this.#tryWrite(this.#rest);
        this.#rest = taken < this.#rest.byteLength ? this.#rest.subarray(taken) : null;
      }
    } catch (error) {
      return error instanceof Error && 'code' in error ? String(error.code) : '';
    } finally {
      for (const line of this.#lines.splice(0, written)) this.#characters -= line.length;
    }
    return null;
  }

  // As many lines as fit into a piece, but at least one.
  #endOfPiece(start: number): number {
    let bytes = 0;
    let end = start;
    while (end < this.#lines.length) {
      bytes += Buffer.byteLength(this.#lines[end] ?? '') + 1;
      if (bytes > PIECE_BYTES_MAX && end > start) break;
      end += 1;
    }
    return end;
  }
}

/** Writes to stderr without blocking. */
export function stderrWrite(): TryWrite {
  const { fd, isTTY } = process.stderr;
  // Bun has made it non-blocking, except for terminals, where a paused one would block the writer.
  const target = isTTY ? reopened(fd) : fd;
  return (bytes) => writeSync(target, bytes);
}

function reopened(fd: number): number {
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return fd;
  }
}
