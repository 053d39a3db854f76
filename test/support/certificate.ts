// Certificates for a day, signed by themselves; openssl makes them.
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
