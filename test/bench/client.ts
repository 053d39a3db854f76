// Single requests to a server, for what has to be there before anything is measured.
import type { Running } from './servers.ts';

export interface Ask {
  body?: string;
  headers?: Record<string, string>;
}

/** Sends a request and gives what was answered; throws an error unless that is a success. */
export async function ask(
  { port, build }: Running,
  method: string,
  path: string,
  { body, headers }: Ask = {},
): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v2/${path}`, {
    method,
    headers: { Authorization: `Bearer ${build.key}`, 'Content-Type': 'application/json', ...headers },
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
  return JSON.parse(text);
}
