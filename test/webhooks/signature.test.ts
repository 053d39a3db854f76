// Signatures of webhooks, checked by the library that receivers use.
import { describe, expect, test } from 'bun:test';
import { Webhook } from 'standardwebhooks';
import { newWebhookSecret, signatureHeaders } from '../../server/webhooks/signature.ts';

const body = JSON.stringify({ type: 'contacts.created', data: { name: 'Zoë 🎉' } });
const message = () => ({ id: 'msg_2Lq', timestamp: Math.floor(Date.now() / 1_000), body });

describe('a signature', () => {
  test('is accepted with its secret, and with no other', () => {
    const secret = newWebhookSecret();
    const headers = signatureHeaders(message(), [secret]);
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => new Webhook(newWebhookSecret()).verify(body, headers)).toThrow('No matching signature');
  });

  test('holds for this ID, time and body only', () => {
    const secret = newWebhookSecret();
    const sent = message();
    const headers = signatureHeaders(sent, [secret]);
    const receiver = new Webhook(secret);
    const altered = [
      { 'webhook-id': 'msg_2Lr' },
      { 'webhook-timestamp': String(sent.timestamp + 1) },
      { 'webhook-signature': headers['webhook-signature'].replace(/.{4}$/, 'AAA=') },
    ];
    for (const headersAltered of altered)
      expect(() => receiver.verify(body, { ...headers, ...headersAltered })).toThrow('No matching signature');
    expect(() => receiver.verify(`${body} `, headers)).toThrow('No matching signature');
  });

  test('is too old after a few minutes', () => {
    const secret = newWebhookSecret();
    const old = { ...message(), timestamp: Math.floor(Date.now() / 1_000) - 600 };
    expect(() => new Webhook(secret).verify(body, signatureHeaders(old, [secret]))).toThrow('too old');
  });

  test('is made with both secrets during a rotation', () => {
    const [current, previous] = [newWebhookSecret(), newWebhookSecret()];
    const headers = signatureHeaders(message(), [current, previous]);
    expect(headers['webhook-signature']).toMatch(/^v1,\S{44} v1,\S{44}$/);
    for (const secret of [current, previous])
      expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  });

  test('is the one of the specification', () => {
    const headers = signatureHeaders(
      { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1614265330, body: '{"test": 2432232314}' },
      ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    );
    expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });
});

test('a secret is 32 random bytes behind its prefix', () => {
  const secrets = Array.from({ length: 100 }, newWebhookSecret);
  expect(new Set(secrets).size).toBe(100);
  for (const secret of secrets) {
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(Buffer.from(secret.slice(6), 'base64').length).toBe(32);
  }
});
