// What a service manager is told of a server, as sd_notify(3) has it.
import { ptr } from 'bun:ffi';

const AF_UNIX = 1;
const SOCK_DGRAM_CLOEXEC = 0o2000002;
const MSG_NOSIGNAL = 0x4000;

/** Says that this process is the one that serves from now on, though another may still be at it. */
export async function tellMainProcess(): Promise<void> {
  await tellManager(`MAINPID=${process.pid}`);
}

/** Says that requests are answered. */
export async function tellReady(): Promise<void> {
  await tellManager(`READY=1\nMAINPID=${process.pid}`);
}

// Nobody who does not listen is a reason not to serve.
async function tellManager(text: string): Promise<void> {
  const path = process.env.NOTIFY_SOCKET;
  if (!path || process.platform !== 'linux') return;
  const { systemLibrary } = await import('../../db/system-library.ts');
  const library = systemLibrary({
    socket: { args: ['int', 'int', 'int'], returns: 'int' },
    sendto: { args: ['int', 'ptr', 'usize', 'int', 'ptr', 'u32'], returns: 'i64' },
    close: { args: ['int'], returns: 'int' },
  });
  const socket = library?.socket(AF_UNIX, SOCK_DGRAM_CLOEXEC, 0) ?? -1;
  if (library === undefined || socket < 0) return;
  // unix(7): a name that begins with @ is one of the abstract namespace, which begin with NUL.
  const name = Buffer.from(path.replace(/^@/, '\0'));
  const address = Buffer.concat([new Uint8Array(new Uint16Array([AF_UNIX]).buffer), name]);
  const message = Buffer.from(text);
  library.sendto(socket, ptr(message), message.length, MSG_NOSIGNAL, ptr(address), address.length);
  library.close(socket);
}
