// Collection sub-resources: list, link and unlink the children of a record.
import { type TSchema, Type } from 'typebox';
import type { Data } from '../../db/declare/json.ts';
import { childOf, isMixed, itemFields, linkSchema } from '../../db/declare/links.ts';
import { type Link, type Resource, recordSchema } from '../../db/declare/resource.ts';
import { getResource } from '../../db/resources/index.ts';
import type { Answer, Call, Operation } from '../operation.ts';
import { requireScope } from '../pipeline/scope.ts';
import { linkRecord, listLinked, unlinkRecord } from '../records/links.ts';
import { capitalized, pathOf, titleOf } from './naming.ts';
import { identityOf, PAGE_PARAMETERS } from './paging.ts';

/** The operations of one sub-resource. */
export function linkOperations(parent: Resource, name: string, link: Link): Operation[] {
  const common = {
    api: 'v2' as const,
    tag: titleOf(parent),
    path: `${pathOf(parent)}/{id}/${name}`,
    description: link.description,
  };
  const title = capitalized(parent.singular) + capitalized(name);
  const at = (call: Call) => ({ parent, parentId: call.params.id ?? '', link });
  const item = itemSchema(link);
  const list: Operation = {
    ...common,
    method: 'GET',
    id: `list${title}`,
    summary: `List the ${name} of a ${parent.singular}`,
    scopes: listScopes(parent, link),
    isWrite: false,
    query: PAGE_PARAMETERS,
    answer: item,
    answerKind: 'list',
    successStatuses: [200],
    errorStatuses: [404, 422],
    run: async (call): Promise<Answer> => {
      const identity = identityOf(call, `${pathOf(parent)}/${call.params.id}/${name}`);
      const after =
        typeof call.query.cursor === 'string'
          ? String(call.cursors.open(identity, call.query.cursor)[0])
          : null;
      const authorize = (child: Resource) => requireScope(call.access, `${child.name}:read`);
      const page = await listLinked(call, at(call), { after, limit: Number(call.query.limit) }, authorize);
      const endCursor = page.end === null ? null : call.cursors.issue(identity, [page.end]);
      return { status: 200, object: 'list', data: page.items, endCursor, hasNextPage: page.hasNextPage };
    },
  };
  const writing = { ...common, scopes: [`${parent.name}:write`], isWrite: true, query: {} };
  const add: Operation = {
    ...writing,
    method: 'POST',
    id: `link${title}`,
    summary: `Link to the ${name} of a ${parent.singular}`,
    description: `${link.description} Linking again changes nothing.`,
    body: linkSchema(link),
    answer: item,
    answerKind: 'success',
    successStatuses: [200],
    errorStatuses: [404, 413, 422],
    run: async (call): Promise<Answer> => {
      const data = await linkRecord(call, at(call), call.body as Data);
      return { status: 200, object: 'success', data };
    },
  };
  const remove: Operation = {
    ...writing,
    method: 'DELETE',
    path: `${common.path}/{child_id}`,
    id: `unlink${title}`,
    summary: `Unlink from the ${name} of a ${parent.singular}`,
    answerKind: 'none',
    successStatuses: [204],
    errorStatuses: [404, 422],
    run: async (call): Promise<Answer> => {
      await unlinkRecord(call, at(call), call.params.child_id ?? '');
      return { status: 204 };
    },
  };
  return [list, add, remove];
}

// Where the child's type depends on the parent found, its scope is checked then; a mixed list needs the parent's alone.
function listScopes(parent: Resource, link: Link): string[] {
  const child = childOf(link);
  return [`${parent.name}:read`, ...(child === undefined ? [] : [`${child}:read`])];
}

function itemSchema(link: Link): TSchema {
  const children = isMixed(link)
    ? [{}]
    : Object.values(link.children).map((name) => getResource(name).fields);
  const items = children.map((fields) => recordSchema(itemFields(link, fields)));
  const [only] = items;
  return items.length === 1 && only !== undefined ? only : Type.Union(items);
}
