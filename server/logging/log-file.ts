// A log file that only its owner can read, that is never opened through a link, and is reopened after a rotation.
import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
// Non-blocking, in case it is a pipe: opening one without a reader would block.
const FLAGS = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK;

export class LogFile {
  readonly path: string;
  #descriptor: number;

  /** Opens or creates the file; @throws the system's error, EMLINK if it is not a file with a single name */
  constructor(path: string) {
    this.path = path;
    this.#descriptor = openOwn(path);
  }

  /** Writes as many bytes as possible and returns their number; @throws the system's error if none */
  readonly write = (bytes: Uint8Array): number => writeSync(this.#descriptor, bytes);

  /** Switches to the file that is now at the path; @throws as the constructor, and then keeps the current file */
  reopen(): void {
    const opened = openOwn(this.path);
    closeSync(this.#descriptor);
    this.#descriptor = opened;
  }
}

function openOwn(path: string): number {
  const descriptor = openSync(path, FLAGS, 0o600);
  const stats = fstatSync(descriptor);
  // Someone else could have made a second name for a file to get it overwritten.
  if (stats.isFile() && stats.nlink === 1) return descriptor;
  closeSync(descriptor);
  throw Object.assign(new Error(`${path} is not a regular file with a single name`), { code: 'EMLINK' });
}
