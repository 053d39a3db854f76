// What is wrong with an API key that a server does not take, as far as its text tells, without ever showing it.

interface KeyFault {
  message: string;
  nextSteps: string[];
}

const CHECK = 'check CRM_API_KEY or --api-key-file.';

/** Why a request to that path was not let in with that key, and what to do about it. */
export async function explainRefusedKey(key: string, path: string): Promise<KeyFault> {
  const { apiOfKey, KEY_PREFIXES, KEY_TAIL_CHARACTERS } = await import('../../db/tables/key-format.ts');
  const wanted = path.startsWith('/api/v1/') ? 'v1' : 'v2';
  const api = apiOfKey(key);
  const flag = wanted === 'v1' ? ' --api v1' : '';
  const issue = `where the database is, issue one: crm keys issue --org NAME --all-scopes${flag}`;
  if (api === wanted) {
    const message = 'The server does not take this API key: it was revoked, or is the key of another server.';
    return { message, nextSteps: [CHECK, issue] };
  }
  if (api !== undefined) {
    const message = `The API key is for ${api}, and this is a request to ${wanted}.`;
    return { message, nextSteps: [issue] };
  }
  const prefixes = [...KEY_PREFIXES[wanted], ...Object.values(KEY_PREFIXES).flat()];
  const begun = prefixes.find((prefix) => key.startsWith(`${prefix}_`));
  if (begun === undefined) {
    const [prefix = ''] = prefixes;
    const form = `begins with ${prefix}_ and has ${prefix.length + 1 + KEY_TAIL_CHARACTERS} characters`;
    return {
      message: `This does not look like an API key: one for ${wanted} ${form}.`,
      nextSteps: [CHECK, issue],
    };
  }
  const length = begun.length + 1 + KEY_TAIL_CHARACTERS;
  const message =
    key.length === length
      ? 'The API key is mistyped: its last characters, a checksum, do not fit the others.'
      : `The API key has ${key.length} characters, and one that begins with ${begun}_ has ${length}.`;
  return { message, nextSteps: ['copy the whole key again.', CHECK, issue] };
}
