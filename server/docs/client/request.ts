// A request as the form of an operation describes it, before it is sent or written in a language.

export interface HttpRequest {
  method: string;
  url: string;
  /** Name and value, without the header of the key. */
  headers: readonly (readonly [name: string, value: string])[];
  body?: string | undefined;
}

/** Writes a request in a language; the key is a variable, so that the sample can be shown and copied. */
export type SampleWriter = (request: HttpRequest, keyHeader: string | undefined) => string;

/** The headers that can carry a key, each with what comes before the key. */
export const KEY_HEADERS: Record<string, string> = { Authorization: 'Bearer ', 'X-Service-Api-Key': '' };

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

/** Whether the response stays open, and is to be read as it arrives. */
export function isStream({ url }: HttpRequest): boolean {
  return /\/stream(\?|$)/.test(url);
}

/** The value of a JSON text; undefined if it is none, as while it is being typed. */
export function valueIn(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
