// The OpenAPI document: @elysiajs/swagger describes an app that has every route but does not serve requests.
import { swagger } from '@elysiajs/swagger';
import { type DocumentDecoration, Elysia } from 'elysia';
import type { Data } from '../../db/model/json.ts';
import type { Api } from '../../db/tables/key-format.ts';
import manifest from '../../package.json' with { type: 'json' };
import { describedOperations } from '../interface.ts';
import type { Operation } from '../operation.ts';
import { routePath } from '../pipeline/route.ts';
import { hoistInto } from './components.ts';
import { description } from './description.ts';
import { operationDetail } from './operations.ts';
import { securitySchemes } from './security.ts';
import { tags } from './tags.ts';

const SPEC_PATH = '/docs/json';
// Schemas are plain JSON Schema, which 3.1 uses; 3.0 has its own dialect, and the plugin writes 3.0 by default.
const OPENAPI_VERSION = '3.1.0';

// In the samples of the description.
const USUAL_BASE = 'http://127.0.0.1:4000';

const documents = new Map<Api | undefined, Promise<Data>>();

/**
 * The document of both versions or of one; built on first use, without a server or a database.
 * @param baseUrl where clients reach the service, if known
 */
export async function openApiDocument({ api, baseUrl }: { api?: Api; baseUrl?: string } = {}): Promise<Data> {
  let document = documents.get(api);
  if (document === undefined) {
    document = buildDocument(api);
    documents.set(api, document);
  }
  const built = await document;
  if (baseUrl === undefined) return { ...built, servers: [{ url: '/' }] };
  return { ...built, info: infoAt(baseUrl, built.info as Data), servers: [{ url: baseUrl }] };
}

// Samples can then be run as they are.
function infoAt(baseUrl: string, { description, ...rest }: Data): Data {
  return { ...rest, description: String(description).replaceAll(USUAL_BASE, () => baseUrl) };
}

async function buildDocument(api: Api | undefined): Promise<Data> {
  const operations = describedOperations().filter((one) => api === undefined || one.api === api);
  const components: Data = { securitySchemes: securitySchemes(api === undefined ? ['v2', 'v1'] : [api]) };
  const hoist = hoistInto(components);
  const app = new Elysia().use(
    swagger({ path: '/docs', specPath: SPEC_PATH, documentation: frame(operations) }),
  );
  for (const operation of operations) {
    // The plugin writes each detail out as text: with its parts in it, that is ten times as much.
    const detail = hoist(operationDetail(operation)) as DocumentDecoration;
    app.route(operation.method, routePath(operation.path), notServed, { detail });
  }
  const response = await app.handle(new Request(`http://localhost${SPEC_PATH}`));
  const { paths = {}, ...rest } = (await response.json()) as Data;
  return { ...rest, openapi: OPENAPI_VERSION, paths, components };
}

function notServed(): never {
  throw new Error('this app only describes the API');
}

type Documentation = NonNullable<Parameters<typeof swagger>[0]>['documentation'];

// Everything that is not part of a single operation.
function frame(operations: Operation[]): Documentation {
  const used = new Set(operations.map(({ tag }) => tag));
  const document: Data = {
    info: {
      title: 'CRM Records Service',
      version: manifest.version,
      description: description(),
      license: { name: manifest.license, url: 'https://spdx.org/licenses/MIT.html' },
    },
    tags: tags().filter(({ name }) => used.has(String(name))),
  };
  return document as Documentation;
}
