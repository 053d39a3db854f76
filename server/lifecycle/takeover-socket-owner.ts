// Checks that another server's takeover socket belongs to this user, because the requests sent there contain API keys.
import { closeSync, constants, fstatSync, lstatSync, openSync, type Stats } from 'node:fs';
import { basename, dirname } from 'node:path';
import { listeningUser } from './kernel-sockets.ts';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
const OTHERS = 0o077;

/** Returns the path to reach a takeover socket; keeps the folder of the last one open, so that it cannot be replaced. */
export class TrustedTakeoverSocket {
  #takeoverSocket: string | null = null;
  #folder = -1;

  /**
   * The path to reach it; null if its folder, its socket or its listener belongs to another user.
   * @throws the system's error if it does not exist
   */
  reach(takeoverSocket: string): string | null {
    if (takeoverSocket !== this.#takeoverSocket) {
      this.close();
      this.#folder = openSync(dirname(takeoverSocket), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      if (!this.#isOwn(takeoverSocket)) {
        this.close();
        return null;
      }
      this.#takeoverSocket = takeoverSocket;
    }
    return this.#pathOf(takeoverSocket);
  }

  // The folder is closed to others, so this cannot change.
  #isOwn(takeoverSocket: string): boolean {
    const folder = fstatSync(this.#folder);
    if (!isOwn(folder) || (folder.mode & OTHERS) !== 0) return false;
    const path = this.#pathOf(takeoverSocket);
    const socket = lstatSync(path);
    return socket.isSocket() && isOwn(socket) && listeningUser(path) === process.geteuid?.();
  }

  // Through the open folder, whatever its name refers to now.
  #pathOf(takeoverSocket: string): string {
    return `/proc/self/fd/${this.#folder}/${basename(takeoverSocket)}`;
  }

  close(): void {
    if (this.#folder >= 0) closeSync(this.#folder);
    this.#folder = -1;
    this.#takeoverSocket = null;
  }
}

function isOwn({ uid }: Stats): boolean {
  return uid === process.geteuid?.();
}
