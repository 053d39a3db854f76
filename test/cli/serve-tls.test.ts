// HTTPS: a certificate on the server itself, which SIGHUP reads again, and the ciphers that it accepts.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { handshake, hasOpenssl, makeCertificate } from '../support/certificate.ts';
import { type RunningServer, Sandbox } from '../support/command.ts';
import { until } from '../support/until.ts';

const UNVERIFIED = { tls: { rejectUnauthorized: false } };
const TLS_FLAGS = ['--tls-cert', 'cert.pem', '--tls-key', 'key.pem'];

for (const readers of [[], ['--readers', '2']])
  describe.skipIf(!hasOpenssl)(['HTTPS (needs openssl)', ...readers].join(' '), () => {
    const sandbox = new Sandbox();
    let server: RunningServer;
    let key = '';
    beforeAll(async () => {
      key = await sandbox.ok(['init', '--org', 'Example']);
      makeCertificate(sandbox.folder, 'first', 'rsa');
      server = await sandbox.serve([...TLS_FLAGS, ...readers]);
    });
    afterAll(() => sandbox[Symbol.asyncDispose]());
    const port = () => new URL(server.url).port;
    const subject = async () => /subject=CN ?= ?(\S+)/.exec(await handshake(port()))?.[1];
    const create = (first_name: string, headers = {}) =>
      fetch(`${server.url}/api/v2/contacts`, {
        ...UNVERIFIED,
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, ...headers },
        body: JSON.stringify({ first_name }),
      });
    const reopen = async (word: string) => {
      process.kill(server.pid, 'SIGHUP');
      await server.says(word);
    };

    test('serves records, with a short name for a host too', async () => {
      expect(server.url).toStartWith('https://127.0.0.1:');
      // Elysia finds the path by its place in the URL.
      for (const host of ['127.0.0.1', 'crm']) {
        const answer = await create(host, { Host: host });
        expect(answer.status).toBe(201);
        expect(answer.headers.get('Location')).toStartWith(`${server.url}/api/v2/contacts/`);
      }
    });

    test.each([
      ['TLS 1.2, ECDHE with AES-GCM', ['-tls1_2', '-cipher', 'ECDHE-RSA-AES128-GCM-SHA256'], true],
      ['TLS 1.2, ECDHE with ChaCha20', ['-tls1_2', '-cipher', 'ECDHE-RSA-CHACHA20-POLY1305'], true],
      ['TLS 1.3', ['-tls1_3'], true],
      ['RSA key exchange', ['-tls1_2', '-cipher', 'AES128-GCM-SHA256:AES256-GCM-SHA384:AES128-SHA'], false],
      ['CBC', ['-tls1_2', '-cipher', 'ECDHE-RSA-AES128-SHA:ECDHE-RSA-AES256-SHA:AES256-SHA'], false],
      ['TLS 1.1', ['-tls1_1', '-cipher', 'DEFAULT@SECLEVEL=0'], false],
      ['TLS 1.0', ['-tls1', '-cipher', 'DEFAULT@SECLEVEL=0'], false],
    ])('%s', async (_, args, isTaken) => {
      const told = await handshake(port(), ...args);
      expect(/Cipher is (?!\(NONE\))/.test(told)).toBe(isTaken);
    });

    test('SIGHUP brings a new certificate, and no request fails meanwhile', async () => {
      expect(await subject()).toBe('first');
      let isOver = false;
      let answered = 0;
      const client = async (name: string, headers: Record<string, string>) => {
        const statuses: number[] = [];
        for (; !isOver; answered++) statuses.push((await create(name, headers)).status);
        return statuses;
      };
      // Half of them on connections that are kept, half on a new one each time.
      const clients = Array.from({ length: 8 }, (_, index) =>
        client(`C${index}`, index % 2 === 0 ? {} : { Connection: 'close' }),
      );
      for (const name of ['second', 'third']) {
        makeCertificate(sandbox.folder, name);
        await reopen('Reloaded the certificate');
        for (let count = 0; count < 5; count++) expect(await subject()).toBe(name);
      }
      await until(() => answered > 50);
      isOver = true;
      const statuses = (await Promise.all(clients)).flat();
      expect(new Set(statuses)).toEqual(new Set([201]));
    }, 300_000);

    test('files that cannot be used, or do not belong together, keep the old one and say so', async () => {
      const before = await subject();
      writeFileSync(sandbox.path('cert.pem'), 'no certificate');
      await reopen('(ERR_OSSL_PEM_NO_START_LINE)');
      const { keyFile } = makeCertificate(sandbox.folder, 'fourth');
      const fourth = await sandbox.read('key.pem');
      makeCertificate(sandbox.folder, 'fifth');
      writeFileSync(keyFile, fourth);
      await reopen('(ERR_OSSL_X509_KEY_VALUES_MISMATCH)');
      expect(await subject()).toBe(before);
      expect((await create('still')).status).toBe(201);
      expect((await server.stop()).code).toBe(0);
    });

    test('a certificate that cannot be used at the start is reported, with its file', async () => {
      await sandbox.write('cert.pem', 'no certificate');
      const unusable = await sandbox.crm(['serve', '--port', '0', ...TLS_FLAGS]);
      expect(unusable.code).toBe(1);
      expect(unusable.stderr).toContain('The certificate or its key is not valid.');
      const folder = await sandbox.crm(['serve', '--port', '0', '--tls-cert', '.', '--tls-key', 'key.pem']);
      expect(folder.code).toBe(2);
      expect(folder.stderr).toContain('Cannot read . (it is a folder)');
    });
  });
