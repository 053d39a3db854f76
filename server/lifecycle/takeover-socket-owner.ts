// Checks that another server's takeover socket belongs to this user, because the requests sent there contain API keys.
import { ptr } from 'bun:ffi';
import { closeSync, constants, fstatSync, lstatSync, openSync, type Stats } from 'node:fs';
import { basename, dirname } from 'node:path';
import { systemLibrary } from '../../db/system-library.ts';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
const OTHERS = 0o077;
// unix(7), socket(7) and socket(2) of Linux.
const AF_UNIX = 1;
const SOCK_STREAM = 1;
const SOCK_NONBLOCK = 0o4000;
const SOCK_CLOEXEC = 0o2000000;
const SOL_SOCKET = 1;
const SO_PEERCRED = 17;
const ADDRESS_BYTES = 110;

function openLibrary() {
  return systemLibrary({
    socket: { args: ['int', 'int', 'int'], returns: 'int' },
    connect: { args: ['int', 'ptr', 'u32'], returns: 'int' },
    getsockopt: { args: ['int', 'int', 'int', 'ptr', 'ptr'], returns: 'int' },
    close: { args: ['int'], returns: 'int' },
  });
}

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
    return isOwnSocket(lstatSync(path)) && listenerOf(path) === process.geteuid?.();
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

function isOwnSocket(stats: Stats): boolean {
  return stats.isSocket() && isOwn(stats);
}

/** The user whose process listens on a socket; undefined if there is none, or the system does not say. */
function listenerOf(path: string): number | undefined {
  const library = openLibrary();
  if (library === undefined) return undefined;
  const socket = library.socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket < 0) return undefined;
  try {
    const address = Buffer.alloc(ADDRESS_BYTES);
    address.writeUInt16LE(AF_UNIX, 0);
    address.write(path, 2);
    if (library.connect(socket, ptr(address), ADDRESS_BYTES) !== 0) return undefined;
    // Process, user and group.
    const credentials = new Int32Array(3);
    const size = new Uint32Array([credentials.byteLength]);
    if (library.getsockopt(socket, SOL_SOCKET, SO_PEERCRED, ptr(credentials), ptr(size)) !== 0)
      return undefined;
    return credentials[1];
  } finally {
    library.close(socket);
  }
}
