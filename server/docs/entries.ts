// The operations of a description in the page's order: versions, groups, operations.
import type { JsonValue } from '../../db/model/json.ts';
import type { Api } from '../../db/tables/key-format.ts';
import { anchorOf } from '../heading-anchor.ts';
import { apiOfPath } from '../pipeline/route.ts';
import { minimalBody } from './minimal-body.ts';
import {
  type AnswerShape,
  type Description,
  type Exemplified,
  examplesOf,
  type Parameter,
  type SchemaShape,
} from './shapes.ts';

/** An operation, with what the page shows of it. */
export interface Entry {
  id: string;
  api: Api;
  method: string;
  path: string;
  title: string;
  description: string;
  isDeprecated: boolean;
  /** Whether it works without a key. */
  isKeyless: boolean;
  parameters: Parameter[];
  body?: { schema: SchemaShape; example?: JsonValue; minimum?: JsonValue };
  successes: [status: string, answer: AnswerShape][];
  errors: [status: string, answer: AnswerShape][];
}

/** Operations on one kind of record. */
export interface Group {
  anchor: string;
  title: string;
  description: string;
  entries: Entry[];
}

/** The groups of one version of the API. */
export interface Version {
  anchor: string;
  title: string;
  isDeprecated: boolean;
  groups: Group[];
}

const FIRST_ERROR_STATUS = '400';

/** Every operation, by version and group, in the order of the description. */
export function versionsOf(description: Description): Version[] {
  const entries = Object.entries(description.paths).flatMap(([path, endpoints]) =>
    Object.entries(endpoints).map(([method, endpoint]) => ({
      tag: endpoint.tags[0],
      entry: entryOf(method.toUpperCase(), path, endpoint),
    })),
  );
  const groups = description.tags.map((tag) => ({
    anchor: anchorOf(tag.name),
    // The heading above already names the version.
    title: tag.name.replace(/^v\d+ /, ''),
    description: tag.description ?? '',
    entries: entries.filter((one) => one.tag === tag.name).map(({ entry }) => entry),
  }));
  const byApi = Map.groupBy(groups, ({ entries: [first] }) => first?.api ?? 'v2');
  return [...byApi].map(([api, ofApi]) => ({
    anchor: api,
    title: `Version ${api.slice(1)}`,
    isDeprecated: ofApi.every((group) => group.entries.every(({ isDeprecated }) => isDeprecated)),
    groups: ofApi,
  }));
}

function entryOf(method: string, path: string, endpoint: Description['paths'][string][string]): Entry {
  const { operationId, summary, description, deprecated, security, parameters, requestBody } = endpoint;
  const [sent] = Object.values(requestBody?.content ?? {});
  const answers = Object.entries(endpoint.responses);
  return {
    id: operationId,
    api: apiOfPath(path),
    method,
    path,
    title: summary,
    description: description ?? '',
    isDeprecated: deprecated === true,
    isKeyless: security?.length === 0,
    parameters: parameters ?? [],
    ...(sent && { body: bodyOf(sent) }),
    successes: answers.filter(([status]) => status < FIRST_ERROR_STATUS),
    errors: answers.filter(([status]) => status >= FIRST_ERROR_STATUS),
  };
}

function bodyOf(sent: Exemplified): Entry['body'] {
  const { schema = {} } = sent;
  const [example] = examplesOf(sent);
  return { schema, ...(example !== undefined && { example, minimum: minimalBody(schema, example) }) };
}
