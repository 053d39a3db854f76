// A server that goes on when the command that started it has ended: for a service manager, which waits for that command.
import { CliError } from '../errors.ts';

const SERVES = 'serves';
const FLAG = '--background';

/**
 * Runs the command line that this process was started with once more, without that flag; resolves once it serves.
 * @throws CliError with its exit code if it ends instead; it has said why
 */
export async function serveInBackground(): Promise<void> {
  const [executable, main] = [process.execPath, Bun.main];
  const command = main.startsWith('/$bunfs/') ? [executable] : [executable, main];
  const serves = Promise.withResolvers<null>();
  const child = Bun.spawn([...command, ...process.argv.slice(2).filter((word) => word !== FLAG)], {
    ...{ stdin: 'ignore', stdout: 'ignore', stderr: 'inherit', detached: true },
    ipc: (message) => {
      if (message === SERVES) serves.resolve(null);
    },
  });
  const exitCode = await Promise.race([serves.promise, child.exited]);
  if (exitCode !== null)
    throw new CliError('The server in the background has ended.', { exitCode: exitCode || 1 });
  child.disconnect();
  child.unref();
}

/** Tells the command that waits for this server, if there is one, that it serves. */
export function tellStarter(): void {
  if (process.send === undefined) return;
  process.send(SERVES);
  process.disconnect?.();
}
