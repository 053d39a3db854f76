// Encrypts the secrets of webhooks for the database.
import { seal, unseal } from './sealing.ts';

/**
 * Encrypts a secret for the database.
 * @param key of the database (`getWebhookKey`)
 * @param webhookId the webhook, without which it cannot be decrypted
 */
export function sealWebhookSecret(key: string, secret: string, webhookId: string): string {
  return seal(Buffer.from(key, 'hex'), Buffer.from(secret), webhookId).toString('base64');
}

/**
 * Decrypts a secret of the database.
 * @throws if it was altered, or sealed with another key or for another webhook
 */
export function openWebhookSecret(key: string, sealed: string, webhookId: string): string {
  const secret = unseal(Buffer.from(key, 'hex'), Buffer.from(sealed, 'base64'), webhookId);
  if (secret === null) throw new Error('the secret of the webhook cannot be decrypted');
  return secret.toString();
}
