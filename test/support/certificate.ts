// Certificates for a day, signed by themselves; openssl makes them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const hasOpenssl = Bun.which('openssl') !== null;

export interface CertificatePaths {
  certFile: string;
  keyFile: string;
}

/** Writes a certificate of that name, with an RSA key or one on P-256, over `cert.pem` and `key.pem` of a folder. */
export function makeCertificate(folder: string, name: string, kind: 'rsa' | 'ec' = 'ec'): CertificatePaths {
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const key = kind === 'rsa' ? ['rsa:2048'] : ['ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const request = ['req', '-x509', '-newkey', ...key, '-nodes', '-days', '1', '-subj', `/CN=${name}`];
  const made = Bun.spawnSync(['openssl', ...request, '-keyout', keyFile, '-out', certFile]);
  if (!made.success) throw new Error(made.stderr.toString());
  return { certFile, keyFile };
}

/** What `openssl s_client` tells of a handshake with that port, with its further arguments. */
export async function handshake(port: number | string, ...args: string[]): Promise<string> {
  const command = ['openssl', 's_client', '-connect', `127.0.0.1:${port}`, ...args];
  const client = Bun.spawn(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' });
  return client.stdout.text();
}

/** Writes a certificate of that name that ended in 2020, in the same way. */
export function makeExpiredCertificate(folder: string, name: string): CertificatePaths {
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const [config, request] = [join(folder, 'ca.cnf'), join(folder, 'request.pem')];
  writeFileSync(join(folder, 'index.txt'), '');
  writeFileSync(
    config,
    `[ca]
default_ca = own
[own]
database = ${folder}/index.txt
new_certs_dir = ${folder}
rand_serial = yes
default_md = sha256
policy = names
[names]
commonName = supplied
`,
  );
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', keyFile];
  const times = ['-startdate', '20200101000000Z', '-enddate', '20200102000000Z'];
  const signing = ['-batch', '-config', config, '-selfsign', '-keyfile', keyFile, '-in', request];
  for (const command of [
    ['req', '-new', ...key, '-subj', `/CN=${name}`, '-out', request],
    ['ca', ...signing, ...times, '-notext', '-out', certFile],
  ]) {
    const made = Bun.spawnSync(['openssl', ...command]);
    if (!made.success) throw new Error(made.stderr.toString());
  }
  return { certFile, keyFile };
}
