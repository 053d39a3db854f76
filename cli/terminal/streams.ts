// The process's streams: data on stdout, everything else on stderr.
import { fstatSync, writeSync } from 'node:fs';
import { errorCode } from '../errors.ts';
import { withProgramName } from './program-name.ts';
import { neutralize } from './text.ts';
import { terminalWidth, wrapLines } from './wrap.ts';

// An empty pipe takes this much at once on every system.
const DIRECT_BYTES_MAX = 16 * 1_024;

/**
 * What a command prints goes straight to the file descriptor at first: loading the stream takes as long as the rest of
 * a short command. The stream takes over where a slow reader would block the process, or a terminal's size is needed.
 */
class OutputStream {
  readonly #fd: 1 | 2;
  #directBytes = 0;
  #isTTY: boolean | undefined;
  #stream: NodeJS.WriteStream | undefined;

  constructor(fd: 1 | 2) {
    this.#fd = fd;
  }

  get isTTY(): boolean {
    // A pipe or a file is told without loading the module that knows terminals.
    this.#isTTY ??=
      fstatSync(this.#fd).isCharacterDevice() && process.getBuiltinModule('node:tty').isatty(this.#fd);
    return this.#isTTY;
  }

  /** The width and height of the terminal; undefined without one. */
  get columns(): number | undefined {
    return this.isTTY ? this.stream.columns : undefined;
  }
  get rows(): number | undefined {
    return this.isTTY ? this.stream.rows : undefined;
  }

  /** The stream itself, for libraries. */
  get stream(): NodeJS.WriteStream {
    if (this.#stream === undefined) {
      this.#stream = this.#fd === 1 ? process.stdout : process.stderr;
      // A failed write is reported to its writer; without a listener it would also end the process.
      this.#stream.on('error', () => {});
    }
    return this.#stream;
  }

  /** Resolves once the text is accepted, so that a slow reader slows the writer; rejects with the system's error. */
  async write(text: string): Promise<void> {
    const rest = this.#stream === undefined ? this.#writeDirectly(Buffer.from(text)) : text;
    if (rest.length > 0) await this.#writeToStream(rest);
  }

  /** Resolves once everything written so far has left the process, or cannot. */
  async flush(): Promise<void> {
    if (this.#stream !== undefined) await this.#writeToStream('').catch(() => {});
  }

  // Returns what the descriptor would not take at once.
  #writeDirectly(bytes: Buffer): Buffer {
    let rest = bytes;
    try {
      while (rest.length > 0 && this.#directBytes + rest.length <= DIRECT_BYTES_MAX) {
        const count = writeSync(this.#fd, rest);
        this.#directBytes += count;
        rest = rest.subarray(count);
      }
    } catch (error) {
      // Another process that has the same pipe open has made it non-blocking.
      if (errorCode(error) !== 'EAGAIN') throw error;
    }
    return rest;
  }

  #writeToStream(data: string | Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.stream.write(data, (error) => (error ? reject(error) : resolve()));
    });
  }
}

export const stdout = new OutputStream(1);
export const stderr = new OutputStream(2);

/** Writes data to stdout and resolves once it is accepted, so that a slow reader slows the writer. */
export function writeOut(text: string): Promise<void> {
  return stdout.write(text);
}

/** Writes data unchanged to stdout; on a terminal, control characters are made visible. */
export function writeValues(text: string): Promise<void> {
  return writeOut(stdout.isTTY ? neutralize(text) : text);
}

/** Writes text for people to stderr as it is; nobody is told if that fails. */
export function writeForPeople(text: string): void {
  stderr.write(text).catch(() => {});
}

let writeNote = writeForPeople;

/** Writes lines for people to stderr, above live output; commands in them can be typed as shown. */
export function note(text: string): void {
  writeNote(`${wrapLines(neutralize(withProgramName(text)), terminalWidth(stderr))}\n`);
}

/** Lets a live display write the notes above itself; the returned function ends this. */
export function notesBy(write: (text: string) => void): () => void {
  writeNote = write;
  return () => {
    writeNote = writeForPeople;
  };
}
