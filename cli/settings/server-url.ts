// Checks the URL of a server before anything is sent to it.
import { usageError } from '../errors.ts';

/** The server URL without a path; throws a usage error if it is not a URL. */
export function serverBase(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !['http:', 'https:'].includes(parsed.protocol) || parsed.search || parsed.hash) {
    throw usageError(
      `"${url}" is not a valid server URL.`,
      'set --url or CRM_URL to a URL like http://127.0.0.1:4000 or https://crm.example.com.',
    );
  }
  // People also paste the URL of an API version.
  return parsed.href.replace(/\/+$/, '').replace(/\/api\/v[12]$/, '');
}
