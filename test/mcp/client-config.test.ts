// crm mcp --print-config: a client that is set up with it can start, and the key is nowhere in it.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { chmodSync, statSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { environmentOf } from '../support/assistant.ts';
import { type RunningServer, Sandbox } from '../support/command.ts';

interface Printed {
  mcpServers: { crm: { command: string; args: string[]; env: Record<string, string> } };
}

let sandbox: Sandbox;
let server: RunningServer;
let key: string;
beforeAll(async () => {
  sandbox = await Sandbox.withDatabase();
  server = await sandbox.serveOrganization();
  key = sandbox.env.CRM_API_KEY ?? '';
  await sandbox.write('given.key', key);
  chmodSync(sandbox.path('given.key'), 0o600);
});
afterAll(async () => {
  await server.stop();
  await sandbox[Symbol.asyncDispose]();
});

/** What a client that has this configuration and nothing else says of the key. */
async function described({ mcpServers: { crm } }: Printed): Promise<{ text: string; tools: string[] }> {
  const { PATH = '', HOME = '' } = environmentOf(sandbox);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(
    new StdioClientTransport({ ...crm, env: { PATH, HOME, ...crm.env }, cwd: '/', stderr: 'ignore' }),
  );
  const { content } = await client.callTool({ name: 'describe', arguments: {} });
  const { tools } = await client.listTools();
  await client.close();
  return { text: JSON.stringify(content), tools: tools.map(({ name }) => name) };
}

test('names the file of the key by its whole path, the server, and the flags', async () => {
  const flags = ['--write', '--allow-delete'];
  const { code, stdout, stderr } = await sandbox.crm([
    'mcp',
    '--print-config',
    '--api-key-file',
    'given.key',
    ...flags,
  ]);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).not.toContain(key);
  const printed: Printed = JSON.parse(stdout);
  const { args, env } = printed.mcpServers.crm;
  expect(args.slice(-5)).toEqual(['mcp', '--api-key-file', sandbox.path('given.key'), ...flags]);
  expect(env).toEqual({ CRM_URL: server.url });
  const { text, tools } = await described(printed);
  expect(text).toContain('Organization \\"Example\\"');
  expect(tools).toContain('delete');
});

test('says of a file of the key that it is not there', async () => {
  const { code, stdout, stderr } = await sandbox.crm(['mcp', '--print-config', '--api-key-file', 'nope.key']);
  expect(code).toBe(0);
  expect(stdout).toContain(sandbox.path('nope.key'));
  expect(stderr.replaceAll(/\s+/g, ' ')).toContain(`warning: ${sandbox.path('nope.key')} does not exist.`);
});

test('of a profile has its address and its key', async () => {
  const profile = { url: server.url, api_key_file: '../../given.key' };
  await sandbox.write('config/crm/config.json', JSON.stringify({ profiles: { work: profile } }));
  const env = { CRM_API_KEY: '', CRM_URL: '' };
  const printed: Printed = JSON.parse(
    await sandbox.ok(['mcp', '--print-config', '--profile', 'work'], { env }),
  );
  expect(printed.mcpServers.crm.args.slice(-1)).toEqual([sandbox.path('given.key')]);
  expect((await described(printed)).text).toContain('Example');
});

test('of a key in a variable says how to put it into a file, and then works', async () => {
  const { stdout, stderr } = await sandbox.crm(['mcp', '--print-config']);
  expect(stdout + stderr).not.toContain(key);
  const [command = ''] = /\(umask 077; .*\)/.exec(stderr.replaceAll(/\n\s*/g, ' ')) ?? [];
  const { code } = await sandbox.shell(command, []);
  expect(code).toBe(0);
  const file = sandbox.path('config/crm/mcp.key');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const printed: Printed = JSON.parse(stdout);
  expect(printed.mcpServers.crm.args).toContain(file);
  expect((await described(printed)).text).toContain('Example');
});
