// A request as a curl command: the pages are generated with it, and the browser updates it as the form is filled in.
import { type HttpRequest, KEY_HEADERS } from '../request.ts';
import { inQuotes } from './shell.ts';

/** The curl command; the key is a shell variable. */
export function curlLine({ method, url, headers, body }: HttpRequest, keyHeader: string | undefined): string {
  const isImplied = method === (body === undefined ? 'GET' : 'POST');
  const parts = [`curl ${isImplied ? '' : `-X ${method} `}${inQuotes(url)}`];
  if (keyHeader !== undefined) parts.push(`-H "${keyHeader}: ${KEY_HEADERS[keyHeader] ?? ''}$CRM_API_KEY"`);
  for (const [name, value] of headers) parts.push(`-H ${inQuotes(`${name}: ${value}`)}`);
  if (body !== undefined) parts.push(`--json ${inQuotes(body)}`);
  return parts.join(' \\\n  ');
}
