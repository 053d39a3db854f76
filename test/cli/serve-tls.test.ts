// HTTPS: a certificate on the server itself, and the addresses it then tells.
import { expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { V2_SCOPES } from '../../db/resources/index.ts';
import { openStore } from '../../db/store.ts';
import { createOrganization } from '../../db/tables/accounts.ts';
import { issueKey } from '../../db/tables/keys.ts';
import { startServer } from '../../server/serve.ts';

const hasOpenssl = Bun.which('openssl') !== null;

test.skipIf(!hasOpenssl)('records are served over HTTPS (needs openssl)', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'crm-tls-'));
  const [certFile, keyFile, db] = ['cert.pem', 'key.pem', 'crm.db'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const request = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '1',
  ];
  Bun.spawnSync(['openssl', ...request, '-subj', '/CN=localhost', '-keyout', keyFile, '-out', certFile]);
  expect(existsSync(certFile)).toBe(true);

  const store = await openStore(db);
  const now = Date.now();
  const { id: orgId } = await store.write((trx) => createOrganization(trx, 'Acme', now));
  const owner = { orgId, api: 'v2', name: null, scopes: V2_SCOPES, access: 'organization' } as const;
  const { key } = await store.write((trx) => issueKey(trx, { ...owner, userId: null, expiresAt: null, now }));
  await store.close();

  const options = {
    db,
    host: '127.0.0.1',
    port: 0,
    behindProxy: false,
    keyLimit: 200,
    orgLimit: 1_000,
    log: 'off',
  } as const;
  const server = await startServer({ ...options, tls: { certFile, keyFile } });
  try {
    expect(server.url).toStartWith('https://127.0.0.1:');
    // With a short name for a host too: Elysia finds the path by its place in the URL.
    for (const host of ['127.0.0.1', 'crm']) {
      const answer = await fetch(`${server.url}/api/v2/contacts`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, Host: host },
        body: JSON.stringify({ first_name: host }),
        tls: { rejectUnauthorized: false },
      });
      expect(answer.status).toBe(201);
      expect(answer.headers.get('Location')).toStartWith(`${server.url}/api/v2/contacts/`);
    }
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
