// Creates and serves the demo database of quickstart.
import { startServer } from '../../server/serve.ts';

import { Client, type ClientOptions } from '../api/client.ts';
import { databaseError } from '../database/database.ts';
import { errorCode } from '../errors.ts';
import { VERSION } from '../version.ts';
import { buildDemoData } from './data/demo-data.ts';
import type { DemoData, Ids } from './data/types.ts';
import type { Screen } from './screen.ts';
import { createDatabase, type DemoDatabase, type DemoPlace } from './setup.ts';

export interface Demo {
  screen: Screen;
  data: DemoData;
  /** IDs by key of the demo data: of the users first, then of imported records. */
  ids: Ids;
  database: DemoDatabase;
  url: string;
  docsUrl: string;
  /** Finishes open requests, for at most ten seconds, and closes the database. */
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';
const PORT = 4000;
const KEY_LIMIT = 200;
const ORG_LIMIT = 1_000;

/** Creates the demo database and serves it on port 4000, or on a free port if that is in use. */
export async function startDemo(screen: Screen, place: DemoPlace): Promise<Demo> {
  screen.heading(
    `crm quickstart: a full demo on ${place.isThrowAway ? 'a temporary database' : place.shown}`,
  );
  const data = buildDemoData(Date.now());
  const ids: Ids = new Map();
  const database = await createDatabase(place, data.users, ids);
  screen.step('Database', place.shown);
  screen.step('Organization', `${database.organization.name}, ${data.users.length} users`);
  screen.step('Keys', 'v1 (ALL), v2 (all scopes), and one for the import that expires in an hour');
  const server = await serve(place.db);
  screen.step('Server', `${server.url}, docs at ${server.docsUrl}`);
  return { screen, data, ids, database, url: server.url, docsUrl: server.docsUrl, stop: server.stop };
}

async function serve(db: string) {
  const limits = { keyLimit: KEY_LIMIT, orgLimit: ORG_LIMIT };
  const start = (port: number) => startServer({ db, host: HOST, port, ...limits, log: 'off' });
  try {
    return await start(PORT).catch((error: unknown) => {
      if (errorCode(error) === 'EADDRINUSE') return start(0);
      throw error;
    });
  } catch (error) {
    throw databaseError(db, error);
  }
}

/** A client of the demo server with the given key, which shows on the screen what it waits for. */
export function clientFor(
  { url, screen }: Pick<Demo, 'url' | 'screen'>,
  apiKey: string,
  onWait: ClientOptions['onWait'] = screen.wait,
): Client {
  return new Client({ url, apiKey, userAgent: `crm/${VERSION}`, onWait });
}
