// Links in bulk: all links of one kind in the organization, and batches that link and unlink.
import { type TSchema, Type } from 'typebox';
import { type Fault, requiredFault, unknownFieldFault } from '../../db/model/faults.ts';
import { enumeration, exampleId, type Field, reference } from '../../db/model/fields.ts';
import type { Data, JsonValue } from '../../db/model/json.ts';
import { linkedAtField } from '../../db/model/links.ts';
import { findLinkKind, getLinkKind, LINK_KINDS, type LinkKind } from '../../db/model/resources/link-kinds.ts';
import { bodySchema, named, recordSchema } from '../../db/model/schemas.ts';
import type { Operation, QueryParameter, ReadOperation, WriteOperation } from '../operation.ts';
import { requireScope } from '../pipeline/scope.ts';
import type { NamedLink } from '../records/known-links.ts';
import { linkAll, unlinkAll, writeScopeOf } from '../records/link-batches.ts';
import { listKind } from '../records/link-lists.ts';
import { batchAnswer, batchSchema } from './batch.ts';
import { listScopes } from './links.ts';
import { capitalized, typeNameOf } from './naming.ts';
import { answerPage, PAGE_PARAMETERS } from './paging.ts';

const PATH = '/api/v2/links';
const PARENTS_MAX = 100;

/** The name of the group of these operations. */
export const LINKS_TAG = 'Links';

/** The operations on links of every kind. */
export function bulkLinkOperations(): Operation[] {
  return [list(), batchLink(), batchUnlink()];
}

const COMMON = { api: 'v2', tag: LINKS_TAG, scopes: [] } as const;
const NAMES = LINK_KINDS.map(({ name }) => name);

const QUERY: Record<string, QueryParameter> = {
  of: {
    type: NAMES,
    isRequired: true,
    description: 'The kind of link: the parents, and what is linked to them.',
  },
  parent_id: {
    type: 'text',
    timesMax: PARENTS_MAX,
    description: `Only links of this parent. Send it up to ${PARENTS_MAX} times for links of any of these parents.`,
    example: exampleId('deals'),
  },
  ...PAGE_PARAMETERS,
};

function list(): ReadOperation {
  return {
    ...COMMON,
    method: 'GET',
    path: PATH,
    id: 'listLinks',
    summary: 'List all links of one kind',
    description:
      'Returns the links of that kind in the whole organization, the newest first, each with the fields of the link itself. ' +
      'Links with a record that the key cannot see are left out, and so are members of segments of a type that the key has no ' +
      `read scope for.\n\nRequired scopes, by \`of\`:\n\n${scopeTable((kind) => listScopes(kind.parent, kind.link))}`,
    isWrite: false,
    query: QUERY,
    answer: linkSchema(),
    answerKind: 'list',
    successes: { 200: 'One page of results.' },
    errorStatuses: [422],
    run: async (call) => {
      const kind = getLinkKind(String(call.query.of));
      for (const scope of listScopes(kind.parent, kind.link)) requireScope(call.access, scope);
      const parentIds = setOf(call.query.parent_id);
      const query = { ...call.query, parent_id: parentIds };
      return answerPage({ ...call, query }, PATH, (range) => listKind(call, kind, { ...range, parentIds }));
    },
  };
}

function setOf(values: JsonValue | undefined): string[] | null {
  return Array.isArray(values) ? [...new Set(values.map(String))].sort() : null;
}

function scopeTable(scopesOf: (kind: LinkKind) => string[]): string {
  const rows = LINK_KINDS.map((kind) => {
    const scopes = scopesOf(kind).map((scope) => `\`${scope}\``);
    return `- \`${kind.name}\`: ${scopes.join(' and ')}`;
  });
  return rows.join('\n');
}

// A response to a link shows all its fields, so links with fields of their own have another schema.
function linkSchema(): TSchema {
  const schemas = new Map<string, TSchema>();
  for (const kind of LINK_KINDS) {
    const own = Object.keys(kind.link.fields);
    const name = own.length === 0 ? 'BareLink' : `${typeNameOf(kind.parent, kind.ownName)}Link`;
    const fields = { ...keyFieldsOf(kind), linked_at: linkedAtField(), ...kind.link.fields };
    if (!schemas.has(own.join())) schemas.set(own.join(), named(name, recordSchema(fields)));
  }
  return named('Link', Type.Union([...schemas.values()]));
}

function keyFieldsOf({ parent, link }: LinkKind): Record<string, Field> {
  const [child = ''] = Object.values(link.children);
  return {
    parent_id: reference(parent.name, { required: true, description: 'The record that has the link.' }),
    id: reference(child, { required: true, description: 'The linked record.' }),
  };
}

const [FIRST_KIND] = LINK_KINDS;
if (FIRST_KIND === undefined) throw new Error('there are no links');

const KEY_FIELDS: Record<string, Field> = {
  of: enumeration(NAMES, { required: true, description: 'The kind of link.' }),
  ...keyFieldsOf(FIRST_KIND),
};

// Which of them an item can have depends on its kind.
const OWN_FIELDS: Record<string, Field> = Object.assign(
  {},
  ...LINK_KINDS.flatMap(({ name: kind, link }) =>
    Object.entries(link.fields).map(([name, field]) => {
      const use = field.required ? `Required for \`${kind}\`, and only used there.` : `Only for \`${kind}\`.`;
      return { [name]: { ...field, required: false, description: `${use} ${field.description}` } };
    }),
  ),
);

function ownFieldFaults(item: Data): Fault[] {
  const kind = findLinkKind(String(item.of));
  if (kind === undefined) return [];
  const { fields } = kind.link;
  const faults: Fault[] = [];
  for (const name in OWN_FIELDS) {
    if (!(name in item)) {
      if (fields[name]?.required === true) faults.push(requiredFault(name));
    } else if (!(name in fields))
      faults.push(unknownFieldFault(name, [...Object.keys(KEY_FIELDS), ...Object.keys(fields)]));
  }
  return faults;
}

function namedLink(item: Data): NamedLink {
  const kind = getLinkKind(String(item.of));
  const own: Data = {};
  for (const name in kind.link.fields) if (name in item) own[name] = item[name] ?? null;
  return { kind, parent_id: String(item.parent_id), child_id: String(item.id), own };
}

function batchLink(): WriteOperation {
  return {
    ...batch('', 'link'),
    description: batchNotes(
      'Links records of any kind. An item is `unchanged` if the link exists with the fields that you send; otherwise ' +
        'the fields that differ are set. Linking another deal or company to a meeting replaces the one it has. If several ' +
        'items change the same link, the log of changes has one change with the result.',
    ),
    body: named(
      'BatchLinkItem',
      bodySchema({ ...KEY_FIELDS, ...OWN_FIELDS }, () => true, true),
    ),
    inspect: ownFieldFaults,
    answer: batchSchema('LinkBatch', ['linked', 'unchanged'], linkSchema()),
    run: (call) => batchAnswer<Data>(call, (items) => linkAll(call, items.map(namedLink))),
  };
}

function batchUnlink(): WriteOperation {
  return {
    ...batch('/delete', 'unlink'),
    description: batchNotes('Removes links of any kind.'),
    body: named(
      'BatchUnlinkItem',
      bodySchema(KEY_FIELDS, () => true, true),
    ),
    answer: batchSchema('LinkBatchDelete', ['unlinked']),
    run: (call) => batchAnswer<Data>(call, (items) => unlinkAll(call, items.map(namedLink))),
  };
}

function batch(path: string, verb: string) {
  return {
    ...COMMON,
    method: 'POST',
    path: `${PATH}/batch${path}`,
    id: `batch${capitalized(verb)}`,
    summary: `${capitalized(verb)} up to 100 records`,
    isWrite: true,
    isBatch: true,
    query: {},
    examples: { body: exampleItem },
    answerKind: 'batch',
    successes: { 200: 'The result of every item, in the order sent.' },
    errorStatuses: [413, 422],
  } as const;
}

const exampleItem: Data = Object.fromEntries(
  Object.entries(KEY_FIELDS).map(([name, { example }]) => [name, example]),
);

function batchNotes(does: string): string {
  return [
    does,
    'Items are carried out independently and in order. A 200 does not mean that every item succeeded: check summary.failed. ' +
      'An item fails if the key does not have its scope.',
    `Required scopes, by \`of\`:\n\n${scopeTable((kind) => [writeScopeOf(kind)])}`,
  ].join('\n\n');
}
