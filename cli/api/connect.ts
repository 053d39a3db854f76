// Creates the client for the settings of a command; it reports on stderr what it is waiting for.

import type { Config } from '../settings/config.ts';
import { note } from '../terminal/streams.ts';
import { noteWait } from '../terminal/wait-reasons.ts';
import { VERSION } from '../version.ts';
import { Client, type ClientOptions } from './client.ts';
import { isLoopback } from './loopback.ts';

export interface ConnectOptions extends Pick<ClientOptions, 'waitSecondsMax'> {
  /** Appended to the User-Agent. */
  purpose?: string;
}

/** A client for the configured server and key. */
export async function connect(
  config: Pick<Config, 'url' | 'apiKey'>,
  onWait: NonNullable<ClientOptions['onWait']> = noteWait,
  { purpose = '', ...options }: ConnectOptions = {},
): Promise<Client> {
  const apiKey = await config.apiKey();
  const userAgent = `crm/${VERSION}${purpose}`;
  const client = new Client({ url: config.url, apiKey, userAgent, onWait, ...options });
  if (isExposed(config.url)) {
    note(`crm: warning: the API key is sent unencrypted to ${config.url}. Use an https URL.`);
  }
  return client;
}

function isExposed(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !isLoopback(hostname);
}
