// The HTTP clients of quickstart, one per key, which show on the screen what they wait for.
import { Client, type ClientOptions } from '../api/client.ts';
import { VERSION } from '../version.ts';
import type { Demo } from './demo.ts';

/** A client of the demo server with the given key. */
export function clientFor(
  { url, screen }: Pick<Demo, 'url' | 'screen'>,
  apiKey: string,
  onWait: ClientOptions['onWait'] = screen.wait,
): Client {
  return new Client({ url, apiKey, userAgent: `crm/${VERSION}`, onWait });
}
