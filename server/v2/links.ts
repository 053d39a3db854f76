// Collection sub-resources: list, link and unlink the children of a record.
import { type TSchema, Type } from 'typebox';
import type { Data } from '../../db/declare/json.ts';
import { type Link, linkSchema, type Resource, recordSchema } from '../../db/declare/resource.ts';
import { getResource } from '../../db/resources/index.ts';
import type { Answer, Operation } from '../operation.ts';
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
  const collection = { parent, link };
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
      const id = call.params.id ?? '';
      const identity = identityOf(call, `${pathOf(parent)}/${id}/${name}`);
      const after =
        typeof call.query.cursor === 'string'
          ? String(call.cursors.open(identity, call.query.cursor)[0])
          : null;
      const authorize = (child: Resource) => requireScope(call.access, `${child.name}:read`);
      const page = await listLinked(
        call,
        collection,
        id,
        { after, limit: Number(call.query.limit) },
        authorize,
      );
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
      const data = await linkRecord(call, collection, call.params.id ?? '', call.body as Data);
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
      await unlinkRecord(call, collection, call.params.id ?? '', call.params.child_id ?? '');
      return { status: 204 };
    },
  };
  return [list, add, remove];
}

// Where the child's type depends on the parent found, its scope is checked then; bare ids need the parent's alone.
function listScopes(parent: Resource, link: Link): string[] {
  const children = link.childType === 'fixed' ? Object.values(link.children) : [];
  return [`${parent.name}:read`, ...children.map((child) => `${child}:read`)];
}

const linkedAt = Type.String({ format: 'date-time', description: 'When it was linked.' });

function itemSchema(link: Link): TSchema {
  if (link.childType === 'body') {
    const record_type = Type.Enum(Object.keys(link.children));
    return Type.Object(
      { record_type, record_id: Type.String(), linked_at: linkedAt },
      { additionalProperties: false },
    );
  }
  const items = Object.values(link.children).map((name) => {
    const record = recordSchema({ ...getResource(name).fields, ...link.fields });
    const properties = 'properties' in record ? (record.properties as Record<string, TSchema>) : {};
    return Type.Object({ ...properties, linked_at: linkedAt }, { additionalProperties: false });
  });
  const [first] = items;
  return items.length === 1 && first !== undefined ? first : Type.Union(items);
}
