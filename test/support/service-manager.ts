// A service manager's ear: a socket to which services say how they are.
import { ptr } from 'bun:ffi';
import { join } from 'node:path';
import { systemLibrary } from '../../db/system-library.ts';

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const MSG_DONTWAIT = 0x40;
const BYTES_MAX = 4_096;

function openLibrary() {
  return systemLibrary({
    socket: { args: ['int', 'int', 'int'], returns: 'int' },
    bind: { args: ['int', 'ptr', 'u32'], returns: 'int' },
    recv: { args: ['int', 'ptr', 'usize', 'int'], returns: 'i64' },
    close: { args: ['int'], returns: 'int' },
  });
}

export class ManagerSocket implements Disposable {
  readonly path: string;
  readonly #library: NonNullable<ReturnType<typeof openLibrary>>;
  readonly #socket: number;

  constructor(folder: string) {
    const library = openLibrary();
    if (library === undefined) throw new Error('there is no C library');
    this.path = join(folder, 'notify');
    this.#library = library;
    this.#socket = library.socket(AF_UNIX, SOCK_DGRAM, 0);
    const address = Buffer.concat([
      new Uint8Array(new Uint16Array([AF_UNIX]).buffer),
      Buffer.from(this.path),
    ]);
    if (library.bind(this.#socket, ptr(address), address.length) !== 0) throw new Error('no such socket');
  }

  /** The next that is said, once it is. */
  async next(): Promise<string> {
    const bytes = new Uint8Array(BYTES_MAX);
    for (;;) {
      const length = Number(this.#library.recv(this.#socket, ptr(bytes), BYTES_MAX, MSG_DONTWAIT));
      if (length >= 0) return Buffer.from(bytes.subarray(0, length)).toString();
      await Bun.sleep(10);
    }
  }

  [Symbol.dispose](): void {
    this.#library.close(this.#socket);
  }
}
