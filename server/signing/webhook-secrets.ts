// Encrypts the secrets of webhooks for the database.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts a secret for the database.
 * @param key of the database (`getWebhookKey`)
 * @param webhookId the webhook, without which it cannot be decrypted
 */
export function sealWebhookSecret(key: string, secret: string, webhookId: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, Buffer.from(key, 'hex'), nonce).setAAD(Buffer.from(webhookId));
  const sealed = Buffer.concat([cipher.update(secret), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
}

/**
 * Decrypts a secret of the database.
 * @throws if it was altered, or sealed with another key or for another webhook
 */
export function openWebhookSecret(key: string, sealed: string, webhookId: string): string {
  const bytes = Buffer.from(sealed, 'base64');
  const [nonce, tag] = [bytes.subarray(0, NONCE_BYTES), bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)];
  const decipher = createDecipheriv(CIPHER, Buffer.from(key, 'hex'), nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(webhookId)).setAuthTag(tag);
  const content = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([content, decipher.final()]).toString();
}
