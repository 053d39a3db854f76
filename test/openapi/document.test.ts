// The OpenAPI document: it lints, its examples hold, it describes every operation, and it is the one that is served.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { V2_SCOPES } from '../../db/resources/index.ts';
import { describedOperations } from '../../server/interface.ts';
import { openApiDocument } from '../../server/openapi/document.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { faultsAgainst, resolved } from '../support/openapi.ts';

const ROOT = join(import.meta.dir, '../..');
const OPERATIONS = describedOperations();
const document: Json = await openApiDocument();

let crm: Harness;
beforeAll(async () => {
  crm = await startHarness();
});
afterAll(() => crm.close());

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
        await Bun.write(join(folder, 'openapi.json'), JSON.stringify(await openApiDocument(api)));
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
    }, 60_000);
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
      expect(one.security).toEqual(operation.admit ? [] : undefined);

      const always = operation.admit ? [405, 429, 500] : [401, 403, 405, 429, 500];
      const statuses = new Set([
        ...Object.keys(operation.successes).map(Number),
        ...always,
        ...operation.errorStatuses,
      ]);
      expect(Object.keys(one.responses)).toEqual([...statuses].toSorted((a, b) => a - b).map(String));

      const parameters: Json[] = one.parameters.map((parameter: Json) => resolved(document, parameter));
      const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const honoursKey = operation.api === 'v2' && ['POST', 'PATCH'].includes(operation.method);
      const names = [...inPath, ...Object.keys(operation.query), ...(honoursKey ? ['Idempotency-Key'] : [])];
      expect(parameters.map(({ name }) => name)).toEqual(names as string[]);
      for (const { name, schema } of parameters.filter((parameter) => parameter.in === 'query')) {
        const { type, minimum, maximum, initial } = operation.query[name] ?? {};
        expect([schema.minimum, schema.maximum, schema.default]).toEqual([minimum, maximum, initial]);
        if (Array.isArray(type)) expect(schema.enum).toEqual(type);
      }
      expect(one.requestBody === undefined).toBe(operation.body === undefined);
    });
  }

  test('offers both ways to send a key as alternatives', () => {
    expect(document.security).toEqual([{ ApiKeyHeader: [] }, { BearerToken: [] }]);
    const { ApiKeyHeader, BearerToken } = document.components.securitySchemes;
    expect(ApiKeyHeader).toMatchObject({ type: 'apiKey', in: 'header', name: 'X-Service-Api-Key' });
    expect(BearerToken).toMatchObject({ type: 'http', scheme: 'bearer' });
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
      const one: Json = await openApiDocument(api);
      const operations = OPERATIONS.filter((operation) => operation.api === api);
      expect(Object.keys(one.paths).every((path) => path.startsWith(`/api/${api}/`))).toBe(true);
      const tags = new Set(operations.map(({ tag }) => tag));
      expect(new Set(one.tags.map(({ name }: Json) => name))).toEqual(tags);
      const hasV1 = Object.keys(one.components.schemas).some((name) => name.startsWith('V1'));
      expect(hasV1).toBe(api === 'v1');
    }
  });
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
    expect(reply.body).toEqual(document);
    const etag = reply.headers.get('ETag') ?? '';
    const again = await crm.send('GET', '/docs/json', { key: null, headers: { 'If-None-Match': etag } });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  test('gives away no address', async () => {
    const { text } = await crm.send('GET', '/docs/json', { key: null });
    expect(document.servers).toEqual([expect.objectContaining({ url: '/' })]);
    expect(text).not.toMatch(/localhost|127\.0\.0\.1|crm\.test/);
  });

  test('is what crm openapi prints', async () => {
    const command = Bun.spawn([process.execPath, `${ROOT}/cli/main.ts`, 'openapi', '--api', 'v1'], {
      stdout: 'pipe',
    });
    expect(JSON.parse(await new Response(command.stdout).text())).toEqual(await openApiDocument('v1'));
    expect(await command.exited).toBe(0);
  });
});

describe('/docs', () => {
  test('refers to nothing but its own files, and allows nothing else', async () => {
    const page = await crm.send('GET', '/docs', { key: null });
    expect(page.status).toBe(200);
    expect(page.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
    const policy = page.headers.get('Content-Security-Policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    const links = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = '']) => link);
    expect(links.length).toBeGreaterThan(4);
    for (const link of links.filter((one) => one !== 'data:,')) {
      expect(link).toStartWith('/docs/');
      const file = await crm.send('GET', link, { key: null });
      expect(file.status).toBe(200);
      expect(file.headers.get('X-Content-Type-Options')).toBe('nosniff');
      const kind = link.endsWith('.css')
        ? 'text/css'
        : link.endsWith('.js')
          ? 'text/javascript'
          : 'application/json';
      expect(file.headers.get('Content-Type')).toBe(`${kind}; charset=utf-8`);
      const head = await crm.send('HEAD', link, { key: null });
      expect([head.status, head.text, head.headers.get('ETag')]).toEqual([200, '', file.headers.get('ETag')]);
    }
  });
});
