// The samples of the docs, run: the same request in each language, the smallest body of each operation, those of the guide.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { buildProgram } from '../../cli/program.ts';
import { crmCommand } from '../../server/docs/client/languages/crm.ts';
import { LANGUAGES } from '../../server/docs/client/languages/languages.ts';
import { addressOf, type HttpRequest } from '../../server/docs/client/request.ts';
import { type Entry, versionsOf } from '../../server/docs/entries.ts';
import { descriptionIn, examplesOf } from '../../server/docs/shapes.ts';
import { openApiDocument } from '../../server/openapi/document.ts';
import { COMMAND } from '../support/command.ts';
import { type DocsService, startDocsService } from '../support/docs-service.ts';
import type { Json } from '../support/json.ts';

const SLOW_MS = 300_000;
const description = descriptionIn(await openApiDocument());
const entries = versionsOf(description).flatMap(({ groups }) => groups.flatMap((group) => group.entries));

let service: DocsService;
let contact: string;
beforeAll(async () => {
  service = await startDocsService();
  contact = (await send('POST', '/api/v2/contacts', { first_name: "O'Brien" })).data.id;
}, SLOW_MS);
afterAll(() => service?.stop());

async function send(method: string, path: string, body?: Json, key = service.keys.v2): Promise<Json> {
  const response = await fetch(service.server.url + path, {
    method,
    headers: { Authorization: `Bearer ${key}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, ...(text === '' ? {} : JSON.parse(text)) };
}

/** Runs a program, and gives what it printed; what it complained of is part of it. */
async function outputOf(command: string[], stdin = ''): Promise<string> {
  const env = { ...process.env, CRM_API_KEY: service.keys.v2, CRM_V1_KEY: service.keys.v1, CONTACT: contact };
  const run = Bun.spawn(command, { env, stdin: new Blob([stdin]), stderr: 'pipe' });
  const [output, complaints] = await Promise.all([
    new Response(run.stdout).text(),
    new Response(run.stderr).text(),
  ]);
  return output + complaints;
}

const quiet = (line: string) => line.replace(/^curl/, 'curl -s');
const asSource = (line: string) => line.replace(/^crm/, COMMAND.map((word) => `'${word}'`).join(' '));
const RUNNERS: Record<string, (sample: string) => Promise<string>> = {
  curl: (sample) => outputOf(['bash', '-c', quiet(sample)]),
  crm: (sample) => outputOf(['bash', '-c', asSource(sample)]),
  TypeScript: (sample) => outputOf([process.execPath, 'run', '-'], sample),
  Python: (sample) => outputOf(['python3', '-'], sample),
};

/** Requests of every form, each with what every language must print. */
function requests(language: string): [HttpRequest, printed: string][] {
  const { url } = service.server;
  const record = `${url}/api/v2/contacts/${contact}`;
  const body = JSON.stringify({ title: "it's “new”", custom: { of: 1.5, is_new: true } }, null, 2);
  return [
    [{ method: 'GET', url: `${url}/api/v2/contacts?limit=5&sort_by=created_at`, headers: [] }, "O'Brien"],
    [{ method: 'GET', url: record, headers: [] }, contact],
    [{ method: 'PATCH', url: record, headers: [], body }, 'is_new'],
    [
      {
        method: 'POST',
        url: `${url}/api/v2/contacts`,
        headers: [['Dry-Run', 'true']],
        body: '{"last_name": null, "email": "dry@example.com"}',
      },
      'dry@example.com',
    ],
    [
      {
        method: 'POST',
        url: `${url}/api/v2/contacts/query`,
        headers: [['Idempotency-Key', `it's-${language}`]],
        body: '{"filter": {"first_name": "O\'Brien"}}',
      },
      contact,
    ],
    [
      {
        method: 'POST',
        url: `${record}/external_ids`,
        headers: [],
        body: '{"source": "billing", "id": "003"}',
      },
      'billing',
    ],
    [{ method: 'GET', url: `${record}/history`, headers: [] }, 'is_new'],
    // Errors are printed too.
    [{ method: 'GET', url: `${url}/api/v2/contacts/nobody`, headers: [] }, 'RESOURCE_NOT_FOUND'],
  ];
}

describe.each(Object.entries(LANGUAGES))('a sample for %s', (language, write) => {
  test(
    'runs, and prints what the service answers',
    async () => {
      for (const [request, printed] of requests(language)) {
        const output = await RUNNERS[language]?.(write(request, 'Authorization'));
        expect([request.url, output]).toEqual([request.url, expect.stringContaining(printed)]);
      }
    },
    SLOW_MS,
  );

  test('says nothing of the key but the name of its variable, in the header that is chosen', () => {
    const request = { method: 'GET', url: 'http://127.0.0.1:4000/api/v2/contacts', headers: [] };
    if (language === 'crm') return expect(write(request, 'X-Service-Api-Key')).toBe('crm list contacts');
    expect(write(request, 'X-Service-Api-Key')).toContain('X-Service-Api-Key');
    expect(write(request, 'X-Service-Api-Key')).toContain('CRM_API_KEY');
    expect(write(request, undefined)).not.toContain('CRM_API_KEY');
  });

  test('has a body that is not JSON as it is', () => {
    const url = 'http://127.0.0.1:4000/api/v2/contacts';
    expect(write({ method: 'POST', url, headers: [], body: '{"email": ' }, 'Authorization')).toMatch(
      /\{\\?"email\\?": /,
    );
  });
});

function exampleOf({ method, path, parameters, body }: Entry): HttpRequest {
  const at = (place: string) => parameters.filter((one) => one.in === place);
  const named = (one: Entry['parameters'][number]) => [one.name, String(examplesOf(one)[0] ?? '')] as const;
  const query = at('query').filter((one) => one.required === true);
  const url = addressOf(
    'http://127.0.0.1:4000',
    path,
    Object.fromEntries(at('path').map(named)),
    query.map(named),
  );
  return { method, url, headers: [], body: body && JSON.stringify(body.minimum) };
}

test('the crm command of each operation exists, with its flags', () => {
  const program = buildProgram();
  for (const entry of entries.filter(({ isKeyless }) => !isKeyless)) {
    const line = crmCommand(exampleOf(entry), 'Authorization');
    const words = line
      .replaceAll(/'(?:[^']|'\\'')*'/g, 'VALUE')
      .split(' ')
      .slice(1);
    const command = program.commands.find((one) => one.name() === words[0]);
    const inner = command?.commands.find((one) => one.name() === words[1]);
    const known = (inner ?? command)?.options.flatMap(({ long, short }) => [long, short]) ?? [];
    const unknown = words.filter((word) => /^--?[a-z]/.test(word) && !known.includes(word));
    expect([entry.id, line, command === undefined, unknown]).toEqual([entry.id, line, false, []]);
  }
});

test('the lines for a shell in the guide succeed as printed', async () => {
  const guide = description.info.description;
  const samples = [...guide.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, lines = '']) => lines);
  expect(samples.length).toBeGreaterThan(8);
  const atHome = samples.map((lines) => lines.replaceAll('http://127.0.0.1:4000', service.server.url));
  const strict = 'set -e; curl() { command curl -sS --fail-with-body "$@"; }\n';
  for (const lines of atHome) {
    const output = await outputOf(['bash', '-c', `${strict}${lines}`]);
    expect([lines, output]).toEqual([lines, expect.stringMatching(/^\{"object":"(success|list)"/)]);
  }
});

describe('the smallest body', () => {
  // Those that name other records, which are only examples, and a URL that must be reachable.
  const NAMES_OTHERS = /^(link|unlink|set|batchLink|batchUnlink|.*(get|update|delete)(?!.*query))/i;

  test('of each operation that names no other record is accepted', async () => {
    const refused: unknown[] = [];
    for (const { id, api, method, path, body } of entries) {
      if (body === undefined || path.includes('{') || NAMES_OTHERS.test(id)) continue;
      const reply = await send(method, path, body.minimum as Json, service.keys[api]);
      const items: Json[] = reply.data?.items ?? [];
      const failed = items.filter(({ status }) => status === 'error');
      // What one operation created, another finds.
      if (
        ![200, 201, 409].includes(reply.status) ||
        failed.some(({ error }) => error.code !== 'RESOURCE_CONFLICT')
      )
        refused.push([id, body.minimum, reply.error ?? failed]);
    }
    expect(refused).toEqual([]);
  });

  test('is smaller than the example', () => {
    const sizes = entries.flatMap(({ body }) => (body === undefined ? [] : [body]));
    const fields = (value: unknown) => JSON.stringify(value).length;
    expect(sizes.filter(({ minimum, example }) => fields(minimum) > fields(example))).toEqual([]);
    expect(entries.find(({ id }) => id === 'createDeal')?.body?.minimum).toEqual({
      name: 'Difference engine, second unit',
    });
  });
});
