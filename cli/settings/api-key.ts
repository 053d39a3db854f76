// Finds the API key of data commands: the file of the flag, the environment, the file of the profile.
import { readFileSync, statSync } from 'node:fs';
import { CliError, EXIT, errorCode, systemFault } from '../errors.ts';
import { note } from '../terminal/streams.ts';
import { shellWord } from '../terminal/text.ts';
import { environment } from './environment.ts';

/** The API key; throws with exit code 4 if there is none. */
export function findApiKey(flagFile: string | undefined, profileFile: string | undefined): string {
  if (flagFile !== undefined) return readKeyFile(flagFile, 'set by --api-key-file');
  const key = environment('CRM_API_KEY')?.trim();
  if (key) return key;
  if (profileFile !== undefined) return readKeyFile(profileFile, 'set by the profile');
  throw new CliError('No API key given.', {
    exitCode: EXIT.auth,
    nextSteps: [
      'issue one and set it: export CRM_API_KEY=$(crm keys issue --org NAME --all-scopes)',
      'or set --api-key-file to a file that contains it.',
    ],
  });
}

/** The key in a file; `named` says which setting names the file. */
function readKeyFile(path: string, named: string): string {
  const file = shellWord(path);
  const make = `(umask 077; crm keys issue --org NAME --all-scopes > ${file})`;
  let key: string;
  try {
    const stats = statSync(path);
    key = readFileSync(path, 'utf8').trim();
    if ((stats.mode & 0o077) !== 0) {
      note(`crm: warning: other users can read the key file ${path}. Run "chmod 600 ${file}".`);
    }
  } catch (cause) {
    const isMissing = ['ENOENT', 'ENOTDIR'].includes(errorCode(cause));
    throw new CliError(`Cannot read the key file ${path}, ${named}: ${systemFault(cause)}.`, {
      exitCode: EXIT.auth,
      nextSteps: isMissing ? ['check the path.', `or issue a key to it: ${make}`] : ['check the path.'],
      cause,
    });
  }
  if (key !== '') return key;
  throw new CliError(`The key file ${path}, ${named}, is empty.`, {
    exitCode: EXIT.auth,
    nextSteps: [`issue a key to it: ${make}`],
  });
}
