// TLS of webhook requests: verified for the name, whatever address is connected to.
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type TLSSocket } from 'node:tls';
import {
  type CertificatePaths,
  hasOpenssl,
  makeCertificate,
  makeExpiredCertificate,
} from '../support/certificate.ts';

const CHILD = join(import.meta.dir, '../support/sending-child.ts');
const folder = mkdtempSync(join(tmpdir(), 'crm-sender-tls-'));
const ends: (() => void)[] = [];
afterAll(() => {
  for (const end of ends) end();
  rmSync(folder, { recursive: true });
});

interface SecureReceiver {
  port: number;
  /** The names that clients asked for. */
  names: (string | false | null)[];
  requests: string[];
}

async function secureReceiver({ certFile, keyFile }: CertificatePaths): Promise<SecureReceiver> {
  const names: SecureReceiver['names'] = [];
  const requests: string[] = [];
  const options = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
  const server = createServer(options, (socket: TLSSocket) => {
    socket.on('error', () => undefined);
    names.push((socket as TLSSocket & { servername: string | false }).servername);
    socket.on('data', (data) => {
      requests.push(String(data));
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    });
  });
  server.on('tlsClientError', () => undefined);
  ends.push(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return { port: typeof address === 'object' ? (address?.port ?? 0) : 0, names, requests };
}

async function sendFromChild(url: string, env: Record<string, string>): Promise<unknown> {
  const child = Bun.spawn([process.execPath, CHILD, url, '127.0.0.1'], {
    env: { ...process.env, ...env },
    stdout: 'pipe',
  });
  return JSON.parse(await child.stdout.text());
}

function folderOf(name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
}

describe.skipIf(!hasOpenssl)('a receiver over TLS (needs openssl)', () => {
  const good = hasOpenssl ? makeCertificate(folderOf('good'), 'hooks.test') : null;
  const trust = { NODE_EXTRA_CA_CERTS: good?.certFile ?? '' };

  test('with a certificate for the name is delivered to, and asked for by that name', async () => {
    const receiver = await secureReceiver(good as CertificatePaths);
    const url = `https://hooks.test:${receiver.port}/`;
    expect(await sendFromChild(url, trust)).toMatchObject({ outcome: 'delivered', status: 200 });
    expect(receiver.names).toEqual(['hooks.test']);
    expect(receiver.requests[0]).toContain(`Host: hooks.test:${receiver.port}\r\n`);
  });

  test.each([
    ['another name', 'other.test', trust],
    ['the address instead of the name', '127.0.0.1', trust],
    ['an issuer that is not trusted', 'hooks.test', { NODE_EXTRA_CA_CERTS: '' }],
    [
      'an issuer that is not trusted, with checks turned off by the environment',
      'hooks.test',
      { NODE_EXTRA_CA_CERTS: '', NODE_TLS_REJECT_UNAUTHORIZED: '0' },
    ],
  ])('with a certificate for %s is not', async (_, host, env) => {
    const receiver = await secureReceiver(good as CertificatePaths);
    expect(await sendFromChild(`https://${host}:${receiver.port}/`, env)).toMatchObject({
      outcome: 'tls',
      status: null,
    });
    expect(receiver.requests).toEqual([]);
  });

  test('with an expired certificate is not', async () => {
    const expired = makeExpiredCertificate(folderOf('expired'), 'hooks.test');
    const receiver = await secureReceiver(expired);
    const url = `https://hooks.test:${receiver.port}/`;
    expect(await sendFromChild(url, { NODE_EXTRA_CA_CERTS: expired.certFile })).toMatchObject({
      outcome: 'tls',
    });
    expect(receiver.requests).toEqual([]);
  });

  test('without TLS at all is not', async () => {
    const plain = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
    ends.push(() => void plain.stop(true));
    expect(await sendFromChild(`https://hooks.test:${plain.port}/`, trust)).toMatchObject({ outcome: 'tls' });
  });
});
