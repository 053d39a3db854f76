// Webhooks of a running server: what it reaches, what it refuses, and what a crash of it or of the receiver loses: nothing.
import { afterAll, describe, expect, test } from 'bun:test';
import { lookup } from 'node:dns/promises';
import { hostname } from 'node:os';
import { Webhook } from 'standardwebhooks';
import { freePort } from '../support/ports.ts';
import { until } from '../support/until.ts';
import { type Received, WebhookReceiver } from '../support/webhook-receiver.ts';
import { Services } from '../support/webhook-service.ts';

const LONG = 300_000;
const services = new Services();
afterAll(() => services[Symbol.asyncDispose]());

describe('a server without --webhooks-allow', () => {
  test(
    'connects to nothing but public addresses, whatever a name resolves to',
    async () => {
      const service = await services.start([]);
      const inside = new WebhookReceiver();
      const { port } = inside;
      const literals = [
        `https://127.0.0.1:${port}/`,
        'https://localhost/',
        'https://2130706433/',
        'https://0x7f.1/',
        'https://[::1]/',
        'https://[::ffff:127.0.0.1]:8443/',
        'https://[64:ff9b::7f00:1]/',
        'https://169.254.169.254/latest/meta-data/',
        'https://[fd00:ec2::254]/',
        'https://10.0.0.1/',
        'https://192.168.1.1/',
        'https://100.64.0.1/',
        'https://0.0.0.0/',
        `http://example.com:${port}/`,
        'http://example.com/',
        'https://ada:secret@example.com/',
        'https://example.com:22/',
        'ftp://example.com/',
      ];
      for (const url of literals) {
        const reply = await service.request('POST', '/webhooks', { url, events: ['*'] });
        expect([url, reply.status, reply.body.error?.details[0].path]).toEqual([url, 422, 'url']);
      }
      // Usually an address that is not public; without one, there is nothing to connect to.
      const name = hostname();
      const hasAddress = await lookup(name).then(
        () => true,
        () => false,
      );
      const url = `https://${name}:8443/?key=hush`;
      const webhook = await service.create('/webhooks', { url, events: ['*'] });
      await service.create('/contacts', { first_name: 'Ada' });
      await service.request('POST', `/webhooks/${webhook.id}/ping`);
      await until(async () => {
        const found = await service.deliveries(webhook.id);
        return found.length === 2 && found.every(({ outcome }) => outcome !== 'pending');
      });
      const found = await service.deliveries(webhook.id);
      expect(new Set(found.map(({ outcome }) => outcome))).toEqual(
        new Set([hasAddress ? 'blocked' : 'unreachable']),
      );
      expect(inside.received).toEqual([]);
      const { stderr } = await service.server.stop();
      expect(stderr).not.toContain('hush');
      await inside.close();
    },
    LONG,
  );
});

describe('a server with --webhooks-allow', () => {
  const ALLOW = ['--webhooks-allow', '127.0.0.0/8'];

  test(
    'delivers there over http, and no longer once the operator forbids it',
    async () => {
      const service = await services.start(ALLOW);
      const receiver = new WebhookReceiver();
      const webhook = await service.create('/webhooks', { url: receiver.url, events: ['contacts.*'] });
      const contact = await service.create('/contacts', { first_name: 'Grace' });
      await receiver.wait(1);
      const [one] = receiver.received;
      expect(one?.body).toMatchObject({ type: 'contacts.created', data: { record_id: contact.id } });
      expect(
        new Webhook(webhook.secret).verify(one?.text ?? '', Object.fromEntries(one?.headers ?? []) as never),
      ).toEqual(one?.body);
      // A graceful stop stores what was delivered.
      await service.restart([], 'SIGTERM');
      await service.create('/contacts', { first_name: 'Mary' });
      await until(async () =>
        (await service.deliveries(webhook.id)).some(({ outcome }) => outcome === 'blocked'),
      );
      await Bun.sleep(100);
      expect(receiver.received.length).toBe(1);
      await service.server.stop();
      await receiver.close();
    },
    LONG,
  );

  test.each([[ALLOW], [[...ALLOW, '--readers', '1']]])(
    '%p: kills of the server and of a receiver that fails lose nothing',
    async (args) => {
      const service = await services.start(process.env.CRM_TEST_DB === undefined ? args : ALLOW);
      const port = await freePort();
      let receiver = new WebhookReceiver(port);
      const seen: Received[] = [];
      const flaky = (one: Received) => {
        const roll = Math.random();
        if (roll < 0.02) return new Response(null, { status: 500, headers: { 'Retry-After': '0' } });
        seen.push(one);
        return new Response(null, { status: 204 });
      };
      receiver.answer = flaky;
      const webhook = await service.create('/webhooks', { url: receiver.url, events: ['contacts.*'] });
      const contacts: string[] = [];
      for (let n = 0; n < 5; n++)
        contacts.push((await service.create('/contacts', { first_name: `c${n}` })).id);
      let written = 5;
      for (let round = 0; round < 4; round++) {
        for (let n = 0; n < 25; n++) {
          const id = contacts[n % contacts.length];
          const reply = await service.request('PATCH', `/contacts/${id}`, { title: `${round}-${n}` });
          expect(reply.status).toBe(200);
          written += 1;
        }
        if (round % 2 === 0) await service.restart();
        else {
          await receiver.close();
          await service.request('PATCH', `/contacts/${contacts[0]}`, {
            title: `${round} without a receiver`,
          });
          written += 1;
          receiver = new WebhookReceiver(port);
          receiver.answer = flaky;
        }
      }
      const delivered = () => new Set(seen.map(({ body }) => Number(body.data.sequence)));
      // What failed twice is tried again in minutes, or at once at a new URL. A killed node leaves its lease for 30 s.
      for (let n = 0; delivered().size < written && n < 20; n++) {
        await service.request('PATCH', `/webhooks/${webhook.id}`, { url: `${receiver.url}?again=${n}` });
        await until(() => delivered().size === written, undefined, 4_000).catch(() => undefined);
      }
      expect(delivered().size).toBe(written);
      // In order for each record: each change comes for the first time after all earlier ones of its record.
      for (const id of contacts) {
        const ofRecord = seen.flatMap(({ body }) =>
          body.data.record_id === id ? [Number(body.data.sequence)] : [],
        );
        const firsts = [...new Set(ofRecord)];
        expect(firsts).toEqual(firsts.toSorted((a, b) => a - b));
      }
      // Whatever came twice had the same ID.
      for (const some of Map.groupBy(seen, ({ body }) => body.data.sequence).values())
        expect(new Set(some.map((one) => one.id)).size).toBe(1);
      const [last] = seen.filter(({ body }) => body.data.record_id === contacts[0]).slice(-1);
      const { body } = await service.request('GET', `/contacts/${contacts[0]}`);
      expect(last?.body.data.record).toEqual(body.data);
      await until(
        async () => (await service.request('GET', `/webhooks/${webhook.id}`)).body.data.pending_count === 0,
      );
      await service.server.stop();
      await receiver.close();
    },
    LONG,
  );
});
