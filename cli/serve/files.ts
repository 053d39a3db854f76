// The log file and the certificate of `crm serve`, which it reopens on SIGHUP.
import { LogFile } from '../../server/logging/log-file.ts';
import type { RunningServer, ServeOptions } from '../../server/serve.ts';
import { errorCode, messageOf, systemFault, usageError } from '../errors.ts';
import { neutralize } from '../terminal/text.ts';
import type { ServeFlags } from './flags.ts';

/**
 * Opens the log file, if --log-file names one.
 * @throws CliError with the usage code if the log is off, or the file cannot be opened
 */
export function openLog({ log, logFile }: Pick<ServeFlags, 'log' | 'logFile'>): LogFile | undefined {
  if (logFile === undefined) return undefined;
  if (log === 'off') throw usageError('Use either --log-file or --log off, not both.', 'remove one of them.');
  try {
    return new LogFile(logFile);
  } catch (error) {
    throw usageError(
      `Cannot write the log to ${logFile} (${systemFault(error, FAULTS)}).`,
      'set --log-file to a file in a folder that this user can write to.',
    );
  }
}

const FAULTS = { ENOENT: 'its folder does not exist', EACCES: 'permission denied' };

/** Reopens the log and rereads the certificate; on a fault the server keeps what it has, and says so. */
export async function reopenFiles(
  server: RunningServer,
  { tls, logFile }: Pick<ServeOptions, 'tls' | 'logFile'>,
): Promise<void> {
  if (logFile !== undefined) server.tell(neutralize(reopenLog(server, logFile.path)));
  if (logFile === undefined || tls !== undefined) server.tell(neutralize(await renew(server, tls)));
}

function reopenLog(server: RunningServer, path: string): string {
  try {
    server.reopenLog();
    return `Reopened the log file ${path}.`;
  } catch (error) {
    return (
      `Cannot reopen the log file ${path} (${systemFault(error, FAULTS)}). The log continues in the previous file.\n` +
      'Next: Fix this, then send SIGHUP again.'
    );
  }
}

async function renew(server: RunningServer, tls: ServeOptions['tls']): Promise<string> {
  try {
    return (await server.reopenCertificates())
      ? `Reloaded the certificate ${tls?.certFile}. New connections use it.`
      : 'SIGHUP: no log file or certificate to reload.';
  } catch (error) {
    const reason = errorCode(error) || messageOf(error);
    return (
      `Cannot use the certificate ${tls?.certFile} with the key ${tls?.keyFile} (${reason}).\n` +
      'The server keeps the previous certificate.\nNext: Fix the files, then send SIGHUP again.'
    );
  }
}
