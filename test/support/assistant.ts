// An assistant: the client of the official SDK, with `crm mcp` as its server on stdio.
import { dirname } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { BINARY, COMMAND, type Sandbox } from './command.ts';

/** What a call answers. */
export interface Told {
  text: string;
  isError: boolean;
}

// The client would give up after a minute, which on a busy machine says nothing.
const PATIENCE = { timeout: 300_000 };

/** The arguments of a call. */
export type Given = Record<string, unknown>;

export class Assistant implements AsyncDisposable {
  readonly client: Client;
  readonly #transport: StdioClientTransport;
  #stderr = '';

  private constructor(client: Client, transport: StdioClientTransport) {
    this.client = client;
    this.#transport = transport;
    transport.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr += chunk.toString();
    });
  }

  /** Starts `crm mcp` with these flags in a sandbox, with its variables and others. */
  static async start(
    sandbox: Sandbox,
    flags: readonly string[] = [],
    env: Record<string, string> = {},
  ): Promise<Assistant> {
    const [command = '', ...start] = COMMAND;
    const transport = new StdioClientTransport({
      ...{ command, args: [...start, 'mcp', ...flags], cwd: sandbox.folder, stderr: 'pipe' },
      env: { ...environmentOf(sandbox), ...env },
    });
    const client = new Client({ name: 'test', version: '1' });
    const assistant = new Assistant(client, transport);
    await client.connect(transport, PATIENCE);
    return assistant;
  }

  get pid(): number {
    return this.#transport.pid ?? 0;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** Calls a tool. */
  async call(name: string, given: Given = {}): Promise<Told> {
    const { content, isError = false } = await this.client.callTool(
      { name, arguments: given },
      undefined,
      PATIENCE,
    );
    const [only, ...others] = content as { type: string; text: string }[];
    if (only?.type !== 'text' || others.length > 0) throw new Error(`${name} did not answer with one text`);
    return { text: only.text, isError: isError === true };
  }

  /** Calls a tool that must succeed, and gives its text. */
  async ok(name: string, given: Given = {}): Promise<string> {
    const { text, isError } = await this.call(name, given);
    if (isError) throw new Error(`${name} ${JSON.stringify(given)} failed: ${text}`);
    return text;
  }

  /** Calls a tool that must fail, and gives its text. */
  async refusal(name: string, given: Given = {}): Promise<string> {
    const { text, isError } = await this.call(name, given);
    if (!isError) throw new Error(`${name} ${JSON.stringify(given)} did not fail: ${text}`);
    return text;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.client.close();
  }
}

/** The environment in which a client starts `crm mcp` in a sandbox. */
export function environmentOf(sandbox: Sandbox): Record<string, string> {
  const path = `${dirname(BINARY)}:${process.env.PATH ?? ''}`;
  return { PATH: path, HOME: sandbox.folder, XDG_CONFIG_HOME: sandbox.path('config'), ...sandbox.env };
}

/** The records in the lines of a result. */
export function recordsIn(text: string): Record<string, unknown>[] {
  const lines = text.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** The only record in a result. */
export function recordIn(text: string): Record<string, unknown> {
  const [only, ...others] = recordsIn(text);
  if (only === undefined || others.length > 0) throw new Error(`not one record: ${text}`);
  return only;
}
