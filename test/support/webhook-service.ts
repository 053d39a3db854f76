// A server of its own that sends webhooks, asked over HTTP.
import { type RunningServer, Sandbox } from './command.ts';
import type { Json } from './json.ts';

export interface Service {
  sandbox: Sandbox;
  server: RunningServer;
  request(method: string, path: string, body?: Json): Promise<{ status: number; body: Json }>;
  /** Creates something that must be created, and gives it. */
  create(path: string, body: Json): Promise<Json>;
  /** The last deliveries of a webhook, newest first. */
  deliveries(id: string): Promise<Json[]>;
  /** Ends the server and starts the next one. */
  restart(args?: readonly string[], signal?: NodeJS.Signals): Promise<void>;
}

/** The services of a test file. */
export class Services implements AsyncDisposable {
  readonly #sandboxes: Sandbox[] = [];

  /** Starts one with an organization, Acme. */
  async start(args: readonly string[]): Promise<Service> {
    const sandbox = await Sandbox.withDatabase();
    this.#sandboxes.push(sandbox);
    const key = await sandbox.ok(['init', '--org', 'Acme']);
    const service: Service = {
      sandbox,
      server: await sandbox.serve(args),
      request: async (method, path, body) => {
        const headers = { 'X-Service-Api-Key': key, 'Content-Type': 'application/json' };
        const response = await fetch(`${service.server.url}/api/v2${path}`, {
          method,
          headers,
          // A server that hands over stays for as long as a client keeps a connection open.
          keepalive: false,
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        return { status: response.status, body: (await response.json()) as Json };
      },
      create: async (path, body) => {
        const reply = await service.request('POST', path, body);
        if (reply.status !== 201) throw new Error(JSON.stringify(reply));
        return reply.body.data;
      },
      deliveries: async (id) =>
        (await service.request('GET', `/webhooks/${id}/deliveries?limit=200`)).body.data,
      restart: async (again = args, signal = 'SIGKILL') => {
        await service.server.stop(signal);
        service.server = await sandbox.serve(again);
      },
    };
    return service;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const sandbox of this.#sandboxes) await sandbox[Symbol.asyncDispose]();
  }
}
