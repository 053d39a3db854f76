// Runs a server that outlives the command that started it, for service managers, which wait for that command.
import { CliError } from '../errors.ts';
import { programCommand } from '../terminal/program-name.ts';

const SERVES = 'serves';
const FLAG = '--background';

/**
 * Runs the command line of this process again without --background; resolves once the new process serves.
 * @throws CliError with the exit code of that process if it ends instead; it has printed why
 */
export async function serveInBackground(): Promise<void> {
  const serves = Promise.withResolvers<null>();
  const child = Bun.spawn([...programCommand(), ...process.argv.slice(2).filter((word) => word !== FLAG)], {
    ...{ stdin: 'ignore', stdout: 'ignore', stderr: 'inherit', detached: true },
    ipc: (message) => {
      if (message === SERVES) serves.resolve(null);
    },
  });
  const exitCode = await Promise.race([serves.promise, child.exited]);
  if (exitCode !== null)
    throw new CliError('The server in the background exited.', {
      exitCode: exitCode || 1,
      nextSteps: ['see its output above, or run the same command without --background.'],
    });
  child.disconnect();
  child.unref();
}

/** Tells the command that waits for this server, if any, that it is ready. */
export function tellStarter(): void {
  if (process.send === undefined) return;
  process.send(SERVES);
  process.disconnect?.();
}
