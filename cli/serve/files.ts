// The files that `crm serve` goes on with: its log and its certificate, which SIGHUP has it open and read anew.
import type { LogFile } from '../../server/logging/log-file.ts';
import type { RunningServer, ServeOptions } from '../../server/serve.ts';
import { errorCode, messageOf, systemFault, usageError } from '../errors.ts';
import { neutralize } from '../terminal/text.ts';
import type { ServeFlags } from './flags.ts';

/**
 * Opens the file that the log is to go to, if there is to be one.
 * @throws CliError with the usage code if there is to be no log, or the file cannot be had
 */
export async function openLog({
  log,
  logFile,
}: Pick<ServeFlags, 'log' | 'logFile'>): Promise<LogFile | undefined> {
  if (logFile === undefined) return undefined;
  if (log === 'off')
    throw usageError('--log-file and --log off exclude each other.', 'leave one of them out.');
  const { LogFile } = await import('../../server/logging/log-file.ts');
  try {
    return new LogFile(logFile);
  } catch (error) {
    throw usageError(
      `The log cannot be written to ${logFile} (${systemFault(error, FAULTS)}).`,
      'name another file with --log-file, in a folder that this user may write to.',
    );
  }
}

const FAULTS = { ENOENT: 'its folder does not exist', EACCES: 'this user may not write there' };

/** Opens and reads them anew; whatever is wrong with them, the server goes on with what it has, and says so. */
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
    return `The log goes on in the file that is ${path} now.`;
  } catch (error) {
    return (
      `The log cannot go on in ${path} (${systemFault(error, FAULTS)}), and goes on in the file that it had.\n` +
      'Next: Mend that, then send SIGHUP again.'
    );
  }
}

async function renew(server: RunningServer, tls: ServeOptions['tls']): Promise<string> {
  try {
    return (await server.reopenCertificates())
      ? `New connections get the certificate that is in ${tls?.certFile} now.`
      : 'SIGHUP: there is nothing to read or open anew; the server goes on.';
  } catch (error) {
    const reason = errorCode(error) || messageOf(error);
    return (
      `The certificate in ${tls?.certFile} with the key in ${tls?.keyFile} cannot be used (${reason}).\n` +
      'The former one stays in use.\nNext: Mend the files, then send SIGHUP again.'
    );
  }
}
