// A file for the log: readable by its owner alone, never reached through a link, and opened anew once it was moved away.
import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
// Non-blocking, for what is no file: a pipe that nobody reads would hold whoever opens it.
const FLAGS = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK;

export class RequestLog {
  readonly path: string;
  #descriptor: number;

  /** Opens the file, or makes it; @throws the system's error, EMLINK for what is no file of its own */
  constructor(path: string) {
    this.path = path;
    this.#descriptor = openOwn(path);
  }

  /** Writes what is taken at once, and tells how many bytes; @throws the system's error where none are */
  readonly write = (bytes: Uint8Array): number => writeSync(this.#descriptor, bytes);

  /** Goes on with what lies at the path now; @throws as at first, and then goes on with what it has */
  reopen(): void {
    const opened = openOwn(this.path);
    closeSync(this.#descriptor);
    this.#descriptor = opened;
  }
}

function openOwn(path: string): number {
  const descriptor = openSync(path, FLAGS, 0o600);
  const stats = fstatSync(descriptor);
  // A second name for the file may have been laid by someone to have another one written to.
  if (stats.isFile() && stats.nlink === 1) return descriptor;
  closeSync(descriptor);
  throw Object.assign(new Error(`${path} is no file of its own`), { code: 'EMLINK' });
}
