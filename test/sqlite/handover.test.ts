// `crm serve --takeover`: what still comes on the old server's connections is answered by the one that took over.
import { expect } from 'bun:test';
import { ndjson, type Result, type RunningServer, Sandbox } from '../support/command.ts';
import { type Answer, type Asked, HttpConnection } from '../support/http-connection.ts';
import { describe, test } from '../support/on-sqlite.ts';
import { freePort } from '../support/ports.ts';

const LONG = 300_000;
const canHandOver = process.platform === 'linux';
const CONTACTS = '/api/v2/contacts';
const FROM = '127.0.0.2';

class Succession implements Disposable {
  readonly #sandbox = new Sandbox();
  readonly #flags: readonly string[];
  readonly #servers: RunningServer[] = [];
  /** A key that works from FROM alone. */
  key = '';

  private constructor(flags: readonly string[]) {
    this.#flags = flags;
  }

  static async begin(...flags: string[]): Promise<Succession> {
    const succession = new Succession(['--port', String(await freePort()), '--log', 'json', ...flags]);
    const sandbox = succession.#sandbox;
    await sandbox.ok(['init', '--org', 'Example']);
    const issued = ['keys', 'issue', '--org', 'Example', '--all-scopes', '--allow-ip', FROM];
    succession.key = await sandbox.ok(issued);
    succession.#servers.push(await sandbox.serve(succession.#flags));
    return succession;
  }

  /** The last that took over, or an earlier one: 1 for the one before it. */
  server(back = 0): RunningServer {
    const server = this.#servers.at(-1 - back);
    if (server === undefined) throw new Error('there is no such server');
    return server;
  }

  /** @param tmpdir where it makes a place for what is handed over */
  async takeOver(tmpdir = this.#sandbox.folder): Promise<void> {
    this.#sandbox.env.TMPDIR = tmpdir;
    this.#servers.push(await this.#sandbox.serve([...this.#flags, '--takeover']));
  }

  connect(): Promise<HttpConnection> {
    return HttpConnection.open(this.server().url, FROM);
  }

  connectAll(count: number): Promise<HttpConnection[]> {
    return Promise.all(Array.from({ length: count }, () => this.connect()));
  }

  ask(connection: HttpConnection, asked: Partial<Asked> = {}): Promise<Answer> {
    const headers = {
      Authorization: `Bearer ${this.key}`,
      'Content-Type': 'application/json',
      ...asked.headers,
    };
    return connection.ask({ method: 'GET', path: `${CONTACTS}?limit=1`, ...asked, headers });
  }

  [Symbol.dispose](): void {
    this.#sandbox[Symbol.dispose]();
  }
}

const created = (name: string): Partial<Asked> => ({
  ...{ method: 'POST', path: CONTACTS },
  body: JSON.stringify({ first_name: name }),
});
const isKept = { status: 200, isLast: false };
const isLast = { status: 200, isLast: true };

/** Where each request came from, and how it was answered, as a server's log has it. */
function logged({ stderr }: Result): string[] {
  const lines = ndjson(stderr.replaceAll(/^[^{].*$/gm, ''));
  return lines.map(({ method, status, address }) => `${method} ${status} ${address}`);
}

// What differs from one answer to the next, and what is said of the connection and of how the body is sent.
function withoutItsOwn({ status, head, body }: Answer) {
  const names =
    /^(?:date|connection|content-length|transfer-encoding|x-request-id|x-ratelimit-[\w-]+|ratelimit[\w-]*): /i;
  const fields = head.split('\r\n').filter((line) => !names.test(line));
  return {
    status,
    fields: fields.toSorted(),
    body: body.replaceAll(/"(?:request_id|timestamp)":"[^"]*"/g, ''),
  };
}

describe.skipIf(!canHandOver)('connections of the old server', () => {
  test.each([[[]], [['--readers', '2']]])(
    'that were idle are answered by the server that has the database now, which sees the address of the client: %p',
    async (flags) => {
      using succession = await Succession.begin(...flags);
      const connections = await succession.connectAll(3);
      for (const connection of connections) expect(await succession.ask(connection)).toMatchObject(isKept);
      const [reads, writes, waits] = connections as [HttpConnection, HttpConnection, HttpConnection];
      await succession.takeOver();
      expect(await succession.ask(reads)).toMatchObject(isLast);
      expect(await succession.ask(writes, { ...created('Ada'), bodyMs: 200 })).toMatchObject({
        ...isLast,
        status: 201,
      });
      const later = await succession.connect();
      expect(await succession.ask(later)).toMatchObject(isKept);
      // The first has a connection still.
      await succession.takeOver();
      expect(await succession.ask(waits)).toMatchObject(isLast);
      const last = await succession.ask(later);
      expect(last).toMatchObject(isLast);
      expect(JSON.parse(last.body).data).toMatchObject([{ first_name: 'Ada' }]);

      const ended = await Promise.all([2, 1].map((back) => succession.server(back).stop('SIGCONT')));
      expect(ended.map(({ code }) => code)).toEqual([0, 0]);
      const results = [...ended, await succession.server().stop()];
      const [read, wrote] = [`GET 200 ${FROM}`, `POST 201 ${FROM}`];
      expect(results.map(logged)).toEqual([
        [read, read, read],
        [read, wrote, read],
        [read, read],
      ]);
    },
    LONG,
  );

  test(
    'get the answers that the new one gives',
    async () => {
      using succession = await Succession.begin();
      const many = Array.from({ length: 100 }, () => ({ first_name: 'x'.repeat(200), last_name: 7 }));
      const asked: Partial<Asked>[] = [
        { method: 'HEAD' },
        { path: '/api/v2/none' },
        { method: 'DELETE' },
        { headers: { Authorization: 'Bearer nobody' } },
        { method: 'POST', path: CONTACTS, body: '{' },
        { method: 'POST', path: `${CONTACTS}/batch`, body: JSON.stringify(many) },
        { path: `${CONTACTS}?filter[first_name]=%C3%BC&limit=1#x` },
        { path: `/docs/..${CONTACTS}?limit=1` },
        { path: '/docs' },
        { path: '/docs', headers: { 'Accept-Encoding': 'gzip' } },
        { path: '/docs', method: 'HEAD' },
        { path: '/' },
        { headers: { Host: 'a' } },
        { headers: { 'X-Forwarded-For': '192.0.2.1' } },
        // What the old server says of a request, nobody else can say.
        { headers: { 'Crm-Handed-Over-From': '192.0.2.1', 'Crm-Handed-Over-URL': 'http://crm/healthz' } },
      ];
      const connections = await succession.connectAll(asked.length);
      for (const connection of connections) await succession.ask(connection);
      await succession.takeOver();
      for (const [index, one] of asked.entries()) {
        const passedOn = await succession.ask(connections[index] as HttpConnection, one);
        const direct = await succession.ask(await succession.connect(), one);
        expect({ one, isLast: passedOn.isLast }).toEqual({ one, isLast: true });
        expect(withoutItsOwn(passedOn)).toEqual(withoutItsOwn(direct));
      }
      const url = succession.server().url;
      const spoofs = await HttpConnection.open(url);
      const spoofed = await succession.ask(spoofs, { headers: { 'Crm-Handed-Over-From': FROM } });
      expect(spoofed.status).toBe(403);
      await succession.server().stop();
    },
    LONG,
  );

  test(
    'get a 503 where the new one has died, and the old one ends',
    async () => {
      using succession = await Succession.begin();
      const [one, other] = (await succession.connectAll(2)) as [HttpConnection, HttpConnection];
      for (const connection of [one, other]) expect(await succession.ask(connection)).toMatchObject(isKept);
      await succession.takeOver();
      await succession.server().stop('SIGKILL');
      const answer = await succession.ask(one);
      expect(answer).toMatchObject({ status: 503, isLast: true });
      expect(answer.head).toMatch(/^retry-after: 5$/im);
      expect((await succession.server(1).stop('SIGCONT')).code).toBe(0);
      expect(other.isClosed).toBe(true);
    },
    LONG,
  );

  test(
    'are closed when that is stopped, or their clients have gone',
    async () => {
      using succession = await Succession.begin();
      const [gone, idle] = (await succession.connectAll(2)) as [HttpConnection, HttpConnection];
      for (const connection of [gone, idle]) expect(await succession.ask(connection)).toMatchObject(isKept);
      await succession.takeOver();
      const sent = succession.ask(gone, { ...created('nobody'), bodyMs: 2_000 }).catch(() => null);
      await Bun.sleep(300);
      gone.close();
      await sent;
      const begun = performance.now();
      expect((await succession.server(1).stop()).code).toBe(0);
      // Nobody is waited for: else it takes nine.
      expect(performance.now() - begun).toBeLessThan(8_000);
      expect(idle.isClosed).toBe(true);
      const { body } = await succession.ask(await succession.connect());
      expect(JSON.parse(body).data).toEqual([]);
      await succession.server().stop();
    },
    LONG,
  );

  test(
    'end with its requests where no other can take them, and it with them',
    async () => {
      using succession = await Succession.begin();
      const connection = await succession.connect();
      expect(await succession.ask(connection)).toMatchObject(isKept);
      await succession.takeOver('/nowhere');
      const { code, stderr } = await succession.server(1).stop('SIGCONT');
      expect([code, connection.isClosed]).toEqual([0, true]);
      expect(stderr).toContain('Shutting down: finishing open requests.');
      expect(await succession.ask(await succession.connect())).toMatchObject(isKept);
      await succession.server().stop();
    },
    LONG,
  );
});
