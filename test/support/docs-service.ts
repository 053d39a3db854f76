// A service for what the docs show: one organization, with a key for each version.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOrganization } from '../../db/accounts/accounts.ts';
import { issueKey } from '../../db/accounts/keys.ts';
import { V2_SCOPES } from '../../db/model/resources/registry.ts';
import { openStore } from '../../db/store.ts';
import { type RunningServer, startServer } from '../../server/serve.ts';

export interface DocsService {
  server: RunningServer;
  keys: { v1: string; v2: string };
  stop: () => Promise<void>;
}

/** Starts the service on a new file. */
export async function startDocsService(baseUrl?: string): Promise<DocsService> {
  const folder = mkdtempSync(join(tmpdir(), 'crm-docs-'));
  const db = join(folder, 'crm.db');
  const keys = await prepareDatabase(db);
  const limits = { keyLimit: 1_000, orgLimit: 1_000 };
  const server = await startServer({ db, host: '127.0.0.1', port: 0, baseUrl, ...limits, log: 'off' });
  const stop = async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { server, keys, stop };
}

async function prepareDatabase(path: string): Promise<DocsService['keys']> {
  const store = await openStore(path);
  const now = Date.now();
  const { number: orgNumber } = await store.write('accounts', (trx) => createOrganization(trx, 'Acme', now));
  const owner = {
    orgNumber,
    name: null,
    access: 'organization',
    userId: null,
    expiresAt: null,
    now,
  } as const;
  const v2 = await store.write('accounts', (trx) =>
    issueKey(trx, { ...owner, api: 'v2', scopes: V2_SCOPES }),
  );
  const v1 = await store.write('accounts', (trx) => issueKey(trx, { ...owner, api: 'v1', scopes: ['ALL'] }));
  await store.close();
  return { v1: v1.key, v2: v2.key };
}
