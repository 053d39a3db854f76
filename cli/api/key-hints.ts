// Explains what is wrong with a refused API key, as far as its text shows, without printing it.
import { apiOfKey, KEY_PREFIXES, KEY_TAIL_CHARACTERS } from '../../db/tables/key-format.ts';

interface KeyFault {
  message: string;
  nextSteps: string[];
}

const CHECK = 'check CRM_API_KEY or --api-key-file.';

/** Why the server refused the key for a path, and what to do about it. */
export function explainRefusedKey(key: string, path: string): KeyFault {
  const wanted = path.startsWith('/api/v1/') ? 'v1' : 'v2';
  const api = apiOfKey(key);
  const flag = wanted === 'v1' ? ' --api v1' : '';
  const issue = `issue a new key on the machine with the database: crm keys issue --org NAME --all-scopes${flag}`;
  if (api === wanted) {
    const message =
      'The server does not accept this API key: it was revoked or rotated, or belongs to another server.';
    return { message, nextSteps: [CHECK, issue] };
  }
  if (api !== undefined) {
    const message = `The API key is for ${api}, but this request is for ${wanted}.`;
    return { message, nextSteps: [issue] };
  }
  const prefixes = [...KEY_PREFIXES[wanted], ...Object.values(KEY_PREFIXES).flat()];
  const begun = prefixes.find((prefix) => key.startsWith(`${prefix}_`));
  if (begun === undefined) {
    const [prefix = ''] = prefixes;
    const form = `starts with ${prefix}_ and has ${prefix.length + 1 + KEY_TAIL_CHARACTERS} characters`;
    return {
      message: `This does not look like an API key: a ${wanted} key ${form}.`,
      nextSteps: [CHECK, issue],
    };
  }
  const length = begun.length + 1 + KEY_TAIL_CHARACTERS;
  const message =
    key.length === length
      ? 'The API key has a typo: its checksum does not match.'
      : `The API key has ${key.length} characters, but a key that starts with ${begun}_ has ${length}.`;
  return { message, nextSteps: ['copy the complete key again.', CHECK, issue] };
}
