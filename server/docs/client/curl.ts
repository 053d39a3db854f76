// A request as a curl command: the page is generated with it, and the browser updates it as the form is filled in.

export interface HttpRequest {
  method: string;
  url: string;
  /** Name and value, without the header of the key. */
  headers: readonly (readonly [name: string, value: string])[];
  body?: string | undefined;
}

/** The headers that can carry a key, each with what comes before the key. */
export const KEY_HEADERS: Record<string, string> = { Authorization: 'Bearer ', 'X-Service-Api-Key': '' };

/** The curl command; the key is a shell variable, so that the command can be shown and copied. */
export function curlLine({ method, url, headers, body }: HttpRequest, keyHeader: string | undefined): string {
  const isImplied = method === (body === undefined ? 'GET' : 'POST');
  const parts = [`curl ${isImplied ? '' : `-X ${method} `}${quoted(url)}`];
  if (keyHeader !== undefined) parts.push(`-H "${keyHeader}: ${KEY_HEADERS[keyHeader] ?? ''}$CRM_API_KEY"`);
  for (const [name, value] of headers) parts.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (body !== undefined) parts.push(`--json ${quoted(body)}`);
  return parts.join(' \\\n  ');
}

/** The URL of a path: its parameters filled in, its query appended. */
export function addressOf(
  base: string,
  template: string,
  params: Readonly<Record<string, string>>,
  query: readonly (readonly [name: string, value: string])[],
): string {
  const path = template.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    const value = params[name];
    return value === undefined || value === '' ? whole : encodeURIComponent(value);
  });
  const search = new URLSearchParams(
    query.map(([name, value]): [string, string] => [name, value]),
  ).toString();
  return `${base.replace(/\/$/, '')}${path}${search === '' ? '' : `?${search}`}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
