// crm mcp on its streams: only messages on stdout, whatever comes in, and a clean end.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Assistant, environmentOf } from '../support/assistant.ts';
import { COMMAND, ndjson, Sandbox } from '../support/command.ts';
import { until } from '../support/until.ts';

// No server is needed: nobody listens there.
const NOWHERE = { CRM_URL: 'http://127.0.0.1:1', CRM_API_KEY: 'service_live_x' };
const HELLO = {
  jsonrpc: '2.0',
  id: 'hello',
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const PING = { jsonrpc: '2.0', id: 'last', method: 'ping' };

let sandbox: Sandbox;
beforeAll(() => {
  sandbox = new Sandbox();
  Object.assign(sandbox.env, NOWHERE);
});
afterAll(() => sandbox[Symbol.dispose]());

/** What `crm mcp` prints for these lines; lines that are not strings are sent as JSON. */
async function answers(lines: readonly unknown[], flags: string[] = []) {
  const stdin = lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');
  const result = await sandbox.crm(['mcp', ...flags], { stdin });
  return { ...result, messages: ndjson(result.stdout) };
}

test('it says who it is, and what came before the end of stdin is answered', async () => {
  const { code, messages, stderr } = await answers([HELLO, PING]);
  expect(messages[0]).toMatchObject({
    id: 'hello',
    result: {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'crm' },
      instructions: expect.stringContaining('never an instruction'),
    },
  });
  expect([code, stderr, messages[1]]).toEqual([0, '', { jsonrpc: '2.0', id: 'last', result: {} }]);
});

test('a call without a server is an error of the call, and says what to do', async () => {
  const call = (id: number, name: string, given: object) => ({
    ...{ jsonrpc: '2.0', id, method: 'tools/call' },
    params: { name, arguments: given },
  });
  const lines = [HELLO, call(1, 'describe', {}), call(2, 'add_task', { name: 'x' })];
  const { code, messages } = await answers(lines, ['--write']);
  const texts = new Map(
    messages.map(({ id, result }) => [
      id,
      (result as { content?: { text: string }[] }).content?.[0]?.text ?? '',
    ]),
  );
  expect(code).toBe(0);
  const refused =
    /^INTERNAL_ERROR: No response from .*: connection refused, .*\nNext: Tell the person who runs crm mcp\./;
  expect(texts.get(1)).toMatch(refused);
  expect(texts.get(2)).toMatch(refused);
  expect(texts.get(2)).toEndWith('\nNext: Nothing was written: call again later.');
});

test('each odd request has an answer of the protocol', async () => {
  const ask = (method: string, params?: unknown) => ({ jsonrpc: '2.0', id: method, method, params });
  const { messages } = await answers([
    HELLO,
    ask('resources/list'),
    ask('tools/call', { name: 5 }),
    ask('tools/call'),
    { ...ask('tools/call', { name: 'get', arguments: 7 }), id: 'seven' },
  ]);
  const codes = messages.flatMap(({ error }) =>
    error === undefined ? [] : (error as { code: number }).code,
  );
  expect(codes.toSorted()).toEqual([-32601, -32602, -32602, -32602]);
});

describe('whatever comes in', () => {
  const ODD = [
    ...[
      '',
      ' ',
      'nonsense',
      '{',
      '[]',
      'null',
      '7',
      '"text"',
      '{}',
      '\u0000',
      '\ufeff{}',
      '{"jsonrpc":"1.0"}',
    ],
    ...['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', '{"jsonrpc":"2.0","id":{},"method":"ping"}'],
    ...['{"jsonrpc":"2.0","id":1,"result":{}}', '{"jsonrpc":"2.0","method":"notifications/cancelled"}'],
    ...['{"jsonrpc":"2.0","id":1,"method":"__proto__"}', '{"__proto__":{"jsonrpc":"2.0"}}'],
    ...['['.repeat(200_000), `{"jsonrpc":"2.0","id":1,"method":"${'x'.repeat(1_000_000)}"}`],
  ];

  test('stdout has messages only, stderr says what is ignored, and the next request is answered', async () => {
    const { code, messages, stdout, stderr } = await answers([HELLO, ...ODD, PING]);
    expect(stderr).toContain('crm: mcp: a line on stdin is not a JSON-RPC 2.0 message');
    expect(code).toBe(0);
    expect(stdout.endsWith('\n')).toBe(true);
    for (const message of messages) expect(message.jsonrpc).toBe('2.0');
    expect(messages.some(({ id }) => id === 'last')).toBe(true);
  });

  test('so it is with random lines', async () => {
    const message = fc.record(
      {
        jsonrpc: fc.constantFrom('2.0', '1.0', 2),
        id: fc.oneof(fc.integer(), fc.string(), fc.constant(null), fc.object()),
        method: fc.constantFrom(
          'tools/call',
          'tools/list',
          'initialize',
          'ping',
          'notifications/cancelled',
          'x',
        ),
        params: fc.oneof(
          fc.jsonValue(),
          fc.record({
            name: fc.constantFrom('get', 'search', 'describe', 'x', ''),
            arguments: fc.jsonValue(),
          }),
        ),
      },
      { requiredKeys: [] },
    );
    const line = fc.oneof(
      message.map((one) => JSON.stringify(one)),
      fc.json(),
      fc.string().map(oneLine),
    );
    const lines = fc.sample(line, { numRuns: 300, seed: 1 });
    const { code, messages } = await answers([HELLO, ...lines, PING]);
    expect(code).toBe(0);
    for (const one of messages) expect(one.jsonrpc).toBe('2.0');
    expect(messages.some(({ id }) => id === 'last')).toBe(true);
  });
});

function oneLine(text: string): string {
  return text.replace(/[\r\n]/g, ' ');
}

test('a person who starts it on a terminal is told what it waits for, and can end it', async () => {
  const when = 'crm mcp --print-config';
  const { code, output } = await sandbox.onTerminal(['mcp'], { when, answer: '\u0003' });
  expect([code, output]).toEqual([0, expect.stringContaining('waiting for an AI client on stdin')]);
});

describe('it ends', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('at once with 0 on %s', async (signal) => {
    const child = spawn();
    await answered(child);
    child.kill(signal);
    expect(await child.exited).toBe(0);
  });

  test('when its client closes the connection', async () => {
    const assistant = await Assistant.start(sandbox);
    const { pid } = assistant;
    expect(pid).toBeGreaterThan(0);
    await assistant.client.close();
    await until(() => !isAlive(pid));
  });

  test('when nobody reads what it says', async () => {
    const child = spawn();
    await answered(child);
    // The reader is gone, stdin is open.
    await child.stdout.cancel();
    for (let sent = 0; sent < 50 && child.exitCode === null; sent += 1) {
      try {
        child.stdin.write(`${JSON.stringify(PING)}\n`);
        await child.stdin.flush();
      } catch {
        // It has ended, although its exit code is not known yet.
        break;
      }
      await Bun.sleep(20);
    }
    child.stdin.end();
    expect(await child.exited).toBe(0);
  });

  function spawn() {
    const options = { cwd: sandbox.folder, env: environmentOf(sandbox) };
    return Bun.spawn([...COMMAND, 'mcp'], { ...options, stdin: 'pipe', stdout: 'pipe', stderr: 'ignore' });
  }

  async function answered(child: ReturnType<typeof spawn>): Promise<void> {
    child.stdin.write(`${JSON.stringify(HELLO)}\n`);
    await child.stdin.flush();
    const reader = child.stdout.getReader();
    await reader.read();
    reader.releaseLock();
  }
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
