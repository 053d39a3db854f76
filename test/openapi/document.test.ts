// The OpenAPI document: it lints, its examples hold, it describes every operation, and it is the one that is served.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { V2_SCOPES } from '../../db/model/resources/registry.ts';
import { describedOperations } from '../../server/interface.ts';
import { openApiDocument } from '../../server/openapi/document.ts';
import { COMMAND } from '../support/command.ts';
import { BASE_URL, type Harness, type Json, startHarness } from '../support/harness.ts';
import { faultsAgainst, resolved } from '../support/openapi.ts';

const ROOT = join(import.meta.dir, '../..');
const OPERATIONS = describedOperations();
const document: Json = await openApiDocument();

let crm: Harness;
beforeAll(async () => {
  crm = await startHarness();
});
afterAll(() => crm.close());

// The contract's table, row by row.
const V1_STATUSES: Record<string, string> = {
  'GET /authenticate': '200 401 403 404 429 500',
  'GET /people/{personId}': '200 401 403 404 429 500',
  'PATCH /people/{personId}': '200 401 403 404 422 429 500',
  'DELETE /people/{personId}': '204 401 403 404 429 500',
  'POST /people/query': '200 401 403 422 429 500',
  'POST /people': '201 401 403 409 422 429 500',
  'PUT /people': '200 401 403 422 429 500',
  'GET /companies/{companyId}': '200 401 403 404 429 500',
  'PATCH /companies/{companyId}': '200 401 403 404 409 422 429 500',
  'DELETE /companies/{companyId}': '204 401 403 404 429 500',
  'POST /companies': '200 201 401 403 409 422 429 500',
  'GET /interactions/{interactionId}': '200 401 403 404 429 500',
  'POST /interactions/query': '200 401 403 422 429 500',
  'POST /interactions': '201 401 403 422 429 500',
};

function described(operation: (typeof OPERATIONS)[number]): Json {
  return document.paths[operation.path]?.[operation.method.toLowerCase()];
}

/** Every media type of the document, with the place it stands in. */
function mediaTypes(): [place: string, media: Json][] {
  const found: [string, Json][] = [];
  for (const [path, item] of Object.entries<Json>(document.paths)) {
    for (const [method, operation] of Object.entries<Json>(item)) {
      const answers = Object.entries<Json>(operation.responses);
      const bodies = operation.requestBody === undefined ? [] : [['body', operation.requestBody] as const];
      for (const [status, answer] of [...answers, ...bodies]) {
        const media = resolved(document, answer).content?.['application/json'];
        if (media !== undefined) found.push([`${method} ${path} ${status}`, media]);
      }
    }
  }
  return found;
}

describe('the document', () => {
  for (const api of [undefined, 'v1', 'v2'] as const) {
    test(`of ${api ?? 'both versions'} passes redocly lint without a remark`, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'crm-openapi-'));
      try {
        await Bun.write(join(folder, 'openapi.json'), JSON.stringify(await openApiDocument({ api })));
        const lint = Bun.spawn(
          [
            process.execPath,
            `${ROOT}/node_modules/@redocly/cli/bin/cli.js`,
            'lint',
            'openapi.json',
            '--format=json',
            '--extends=recommended',
          ],
          {
            cwd: folder,
            env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
            stdout: 'pipe',
            stderr: 'pipe',
          },
        );
        const report = JSON.parse(await new Response(lint.stdout).text());
        expect(report.problems).toEqual([]);
        expect(await lint.exited).toBe(0);
      } finally {
        rmSync(folder, { recursive: true });
      }
    }, 300_000);
  }

  test('has examples in every body and answer, and all are valid', () => {
    const media = mediaTypes();
    expect(media.length).toBeGreaterThan(OPERATIONS.length);
    for (const [place, { schema, example, examples }] of media) {
      const values =
        examples === undefined ? [example] : Object.values<Json>(examples).map((one) => one.value);
      for (const value of values)
        expect({ place, faults: faultsAgainst(document, schema, value) }).toEqual({ place, faults: [] });
    }
  });

  test('has valid examples in its schemas', () => {
    const faulty = Object.entries<Json>(document.components.schemas).flatMap(([name, schema]) =>
      Object.entries<Json>(schema.properties ?? {}).flatMap(([property, one]) =>
        (one.examples ?? []).flatMap((example: Json) =>
          faultsAgainst(document, one, example).map((fault) => `${name}.${property}: ${fault}`),
        ),
      ),
    );
    expect(faulty).toEqual([]);
  });

  test('describes each operation and nothing else', () => {
    const inDocument = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(inDocument.toSorted()).toEqual(
      OPERATIONS.map(({ method, path }) => `${method} ${path}`).toSorted(),
    );
  });

  for (const operation of OPERATIONS) {
    test(`tells what ${operation.id} needs, takes and answers`, () => {
      const one = described(operation);
      expect(one.operationId).toBe(operation.id);
      expect(one['x-required-scopes']).toEqual([...operation.scopes]);
      for (const scope of operation.scopes) expect(one.description).toContain(`\`${scope}\``);
      expect(one.deprecated).toBe(operation.api === 'v1' ? true : undefined);
      const scheme = operation.api === 'v1' ? 'V1ApiKey' : 'ApiKey';
      expect(one.security).toEqual(operation.admit ? [] : [{ [scheme]: [] }]);

      const always = operation.admit ? [405, 429, 500, 503] : [401, 403, 405, 429, 500, 503];
      const statuses = new Set([
        ...Object.keys(operation.successes).map(Number),
        ...always,
        ...(operation.body === undefined ? [] : [408]),
        ...operation.errorStatuses,
        // An answer under that key may need more than the key has.
        ...(operation.api === 'v2' && ['POST', 'PATCH'].includes(operation.method) ? [409] : []),
      ]);
      expect(Object.keys(one.responses)).toEqual([...statuses].toSorted((a, b) => a - b).map(String));

      const parameters: Json[] = one.parameters.map((parameter: Json) => resolved(document, parameter));
      const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const honoursKey = operation.api === 'v2' && ['POST', 'PATCH'].includes(operation.method);
      const { isConditional, isWrite } = operation;
      const headers = [
        ...(honoursKey ? ['Idempotency-Key'] : []),
        ...(operation.api === 'v2' && isWrite ? ['Dry-Run'] : []),
        ...(isConditional && isWrite ? ['If-Match'] : []),
        ...(operation.id === 'streamChanges' ? ['Last-Event-ID'] : []),
        // A recording is never the same: its link to the transcript is new each time.
        ...(isConditional && !isWrite && operation.id !== 'getRecording' ? ['If-None-Match'] : []),
      ];
      const names = [...inPath, ...Object.keys(operation.query), ...headers];
      expect(parameters.map(({ name }) => name)).toEqual(names as string[]);
      expect(one.responses['200']?.headers?.ETag !== undefined).toBe(isConditional === true && !isWrite);
      for (const { name, schema } of parameters.filter((parameter) => parameter.in === 'query')) {
        expect([name, faultsAgainst(document, schema, schema.examples[0])]).toEqual([name, []]);
        const { type, minimum, maximum, initial, timesMax } = operation.query[name] ?? {};
        expect([schema.minimum, schema.maximum, schema.default]).toEqual([minimum, maximum, initial]);
        const one = timesMax === undefined ? schema : schema.items;
        if (Array.isArray(type)) expect(one.enum).toEqual(type);
      }
      expect(one.requestBody === undefined).toBe(operation.body === undefined);
    });
  }

  test('gives each version one way to send a key, and tells of the other', () => {
    const { ApiKey, V1ApiKey, ...others } = document.components.securitySchemes;
    expect(others).toEqual({});
    for (const scheme of [ApiKey, V1ApiKey]) {
      expect(scheme).toMatchObject({ type: 'http', scheme: 'bearer' });
      expect(scheme.description).toContain('X-Service-Api-Key');
    }
  });

  test('lists every status that the contract has for version 1', () => {
    for (const [row, statuses] of Object.entries(V1_STATUSES)) {
      const [method = '', path = ''] = row.split(' ');
      const responses = Object.keys(document.paths[`/api/v1${path}`][method.toLowerCase()].responses);
      expect([row, responses]).toEqual([row, expect.arrayContaining(statuses.split(' '))]);
    }
  });

  test('speaks of people in version 1, and puts the article that a word asks for', () => {
    const told = (api: string) =>
      OPERATIONS.filter((operation) => operation.api === api).map((one) => {
        const { summary, description, parameters, requestBody } = described(one);
        return JSON.stringify([summary, description, parameters, requestBody]);
      });
    for (const text of told('v1')) expect(text).not.toMatch(/\bcontacts?\b/);
    for (const text of [...told('v1'), ...told('v2')])
      expect(text).not.toMatch(/\ba [aeio]|\ban [bcdfgjklmnpqstvwxyz]/i);
    expect(document.paths['/api/v2/interactions'].post.summary).toBe('Create an interaction');
    expect(
      document.paths['/api/v2/contacts'].get.parameters.find(({ name }: Json) => name === 'owner_id')
        .description,
    ).toBe('ID of a user.');
  });

  test('has no default in a body, which clients made from it would take for a property that must be sent', () => {
    const bodies = Object.entries<Json>(document.components.schemas).filter(
      ([name]) => !name.endsWith('Item'),
    );
    for (const [name, schema] of bodies)
      expect([name, JSON.stringify(schema)]).toEqual([name, expect.not.stringContaining('"default":')]);
    const { keep_in_touch } = document.components.schemas.ContactCreate.properties;
    expect(keep_in_touch.description).toEndWith('Default: `false`.');
    expect(document.components.schemas.ContactUpdate.properties.keep_in_touch.description).not.toContain(
      'unless',
    );
  });

  test('names every scope and every error code in its text', () => {
    const { description } = document.info;
    for (const scope of V2_SCOPES) expect(description).toContain(scope.split(':')[0]);
    for (const code of document.components.schemas.ErrorCode.enum) {
      expect(description).toContain(`\`${code}\``);
    }
  });

  test('of one version leaves the other out, with all that belongs to it alone', async () => {
    for (const api of ['v1', 'v2'] as const) {
      const one: Json = await openApiDocument({ api });
      const operations = OPERATIONS.filter((operation) => operation.api === api);
      expect(Object.keys(one.paths).every((path) => path.startsWith(`/api/${api}/`))).toBe(true);
      const tags = new Set(operations.map(({ tag }) => tag));
      expect(new Set(one.tags.map(({ name }: Json) => name))).toEqual(tags);
      const hasV1 = Object.keys(one.components.schemas).some((name) => name.startsWith('V1'));
      expect(hasV1).toBe(api === 'v1');
    }
  });
});

test('its enums that allow null say so by their type too', () => {
  const found: string[] = [];
  const walk = (value: Json, place: string) => {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value.enum) && value.enum.includes(null)) {
      found.push(place);
      expect([place, [value.type].flat()]).toEqual([place, expect.arrayContaining(['string', 'null'])]);
    }
    for (const [name, part] of Object.entries(value)) walk(part, `${place}.${name}`);
  };
  walk(document.components, 'components');
  walk(document.paths, 'paths');
  expect(found.length).toBeGreaterThan(2);
});

describe('its open objects', () => {
  const company = { domain: 'open.example', name: 'Open', size: 3, is_customer: true, note: null };
  const schemaOf = (name: string) => resolved(document, { $ref: `#/components/schemas/${name}` });

  // Beside an index signature, an optional property does not compile in what orval 7 makes.
  test('have no typed additional properties beside declared ones', () => {
    const found: string[] = [];
    const walk = (value: Json, at: string): void => {
      if (typeof value !== 'object' || value === null) return;
      const isOpen = typeof value.additionalProperties === 'object' && value.properties !== undefined;
      if (isOpen && Object.keys(value.properties).length > 0) found.push(at);
      for (const [key, one] of Object.entries(value)) walk(one as Json, `${at}/${key}`);
    };
    walk(document.components.schemas, '');
    expect(found).toEqual([]);
    expect(Object.keys(document.components.schemas)).toContain('V1CompanyCreate');
  });

  test.each(['V1CompanyCreate', 'V1CompanyUpdate'])(
    '%s takes and refuses what the service does',
    async (name) => {
      const api = await startHarness();
      const schema = schemaOf(name);
      for (const [body, isTaken] of [
        [company, true],
        [{ domain: 'open.example' }, true],
        [{ ...company, nested: { a: 1 } }, false],
        [{ ...company, name: 5 }, false],
        [{ ...company, long: 'x'.repeat(1_001) }, false],
        [{ ...company, ['k'.repeat(101)]: 1 }, false],
      ] as const) {
        expect([body, faultsAgainst(document, schema, body).length === 0]).toEqual([body, isTaken]);
        const reply = await api.send('POST', '/api/v1/companies', { key: api.v1, body });
        expect([body, reply.status < 300]).toEqual([body, isTaken]);
      }
      await api.close();
    },
  );
});

describe('its examples', () => {
  const creates = OPERATIONS.filter(
    ({ method, id }) => method === 'POST' && /^(create|batchCreate)/.test(id),
  );
  for (const operation of creates) {
    test(`create what they say: ${operation.id}`, async () => {
      const fresh = await startHarness();
      const body = described(operation).requestBody.content['application/json'].example;
      const reply = await fresh.send('POST', operation.path, { body });
      await fresh.close();
      expect(reply.status).toBe(operation.isBatch ? 200 : 201);
      if (operation.isBatch) expect(reply.body.data.summary).toEqual({ total: 1, succeeded: 1, failed: 0 });
    });
  }
});

describe('/docs/json', () => {
  test('serves the document, without a key, and again only when it has changed', async () => {
    const reply = await crm.send('GET', '/docs/json', { key: null });
    expect(reply.status).toBe(200);
    expect(reply.headers.get('Content-Type')).toBe('application/json; charset=utf-8');
    expect(reply.body).toEqual(await openApiDocument({ baseUrl: BASE_URL }));
    const etag = reply.headers.get('ETag') ?? '';
    const again = await crm.send('GET', '/docs/json', { key: null, headers: { 'If-None-Match': etag } });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  test('says where the service is', async () => {
    expect((await crm.send('GET', '/docs/json', { key: null })).body.servers).toEqual([{ url: BASE_URL }]);
    expect(document.servers).toEqual([{ url: '/' }]);
  });

  test('is what crm openapi prints', async () => {
    const command = Bun.spawn([...COMMAND, 'openapi', '--api', 'v1'], {
      stdout: 'pipe',
    });
    expect(JSON.parse(await new Response(command.stdout).text())).toEqual(
      await openApiDocument({ api: 'v1' }),
    );
    expect(await command.exited).toBe(0);
  });
});
