// Collection sub-resources: list, link and unlink the children of a record.
import { type TSchema, Type } from 'typebox';
import type { Data } from '../../db/model/json.ts';
import { childOf, isMixed, itemFields, linkSchema } from '../../db/model/links.ts';
import type { Link, Resource } from '../../db/model/resource.ts';
import { getResource } from '../../db/model/resources/registry.ts';
import { idAlone, named, recordSchema } from '../../db/model/schemas.ts';
import { singularOf, withArticle } from '../../db/model/text.ts';
import type { Answer, Call, Operation, ReadOperation, WriteOperation } from '../operation.ts';
import { requireScope } from '../pipeline/scope.ts';
import { linkRecord, listLinked, unlinkRecord } from '../records/links.ts';
import { capitalized, pathOf, titleOf, typeNameOf } from './naming.ts';
import { answerPage, PAGE_PARAMETERS } from './paging.ts';

/** The operations of one sub-resource. */
export function linkOperations(parent: Resource, name: string, link: Link): Operation[] {
  const common = {
    api: 'v2' as const,
    tag: titleOf(parent),
    path: `${pathOf(parent)}/{id}/${name}`,
  };
  const title = capitalized(parent.singular) + capitalized(name);
  const at = (call: Call) => ({ parent, parentId: call.params.id ?? '', link });
  const typeName = typeNameOf(parent, name);
  const item = itemSchema(typeName, parent, link);
  const list: ReadOperation = {
    ...common,
    method: 'GET',
    id: `list${title}`,
    summary: `List the ${name} of ${withArticle(parent.singular)}`,
    description: `${link.description} ${listNote(parent, link)}`,
    scopes: listScopes(parent, link),
    isWrite: false,
    query: PAGE_PARAMETERS,
    answer: item,
    answerKind: 'list',
    successes: { 200: 'One page of results.' },
    errorStatuses: [404, 422],
    run: (call) => {
      const authorize = (child: Resource) => requireScope(call.access, `${child.name}:read`);
      return answerPage(call, `${pathOf(parent)}/${call.params.id}/${name}`, (range) =>
        listLinked(call, at(call), range, authorize),
      );
    },
  };
  const writing = { ...common, scopes: [`${parent.name}:write`], isWrite: true as const, query: {} };
  const add: WriteOperation = {
    ...writing,
    method: 'POST',
    id: `link${title}`,
    summary: `Link ${withArticle(singularOf(name))} to ${withArticle(parent.singular)}`,
    description: `${link.description} ${linkNote(parent, link)}`,
    body: named(`${typeName}LinkCreate`, linkSchema(link)),
    answer: linkedSchema(typeName, item, link),
    answerKind: 'success',
    successes: { 200: 'Linked.' },
    errorStatuses: [404, 413, 422],
    run: async (call): Promise<Answer> => {
      const data = await linkRecord(call, at(call), call.body as Data);
      return { status: 200, object: 'success', data };
    },
  };
  const remove: WriteOperation = {
    ...writing,
    method: 'DELETE',
    path: `${common.path}/{child_id}`,
    id: `unlink${title}`,
    summary: `Unlink ${withArticle(singularOf(name))} from ${withArticle(parent.singular)}`,
    description: link.description,
    answerKind: 'none',
    successes: { 204: 'Unlinked. The response has no body.' },
    errorStatuses: [404, 422],
    run: async (call): Promise<Answer> => {
      await unlinkRecord(call, at(call), call.params.child_id ?? '');
      return { status: 204 };
    },
  };
  return [list, add, remove];
}

/**
 * The scopes for listing links. If the child's type depends on the parent, its scope is checked once the parent is found; a
 * mixed list does not check one.
 */
export function listScopes(parent: Resource, link: Link): string[] {
  const child = childOf(link);
  return [`${parent.name}:read`, ...(child === undefined ? [] : [`${child}:read`])];
}

function listNote(parent: Resource, link: Link): string {
  if (isMixed(link)) return 'Returns the type and ID of each record the key can see, with `linked_at`.';
  const names = ['linked_at', ...Object.keys(link.fields)].map((name) => `\`${name}\``);
  const shown = `Returns each record with ${names.join(' and ')}.`;
  if (link.typedBy === null) return shown;
  const scopes = Object.values(link.children).map((child) => `\`${child}:read\``);
  const which = `depending on the \`record_type\` of the ${parent.singular}`;
  return `${shown} Also requires ${scopes.join(' or ')}, ${which}.`;
}

function linkNote(parent: Resource, link: Link): string {
  const again = 'Linking a record again changes nothing.';
  if (link.typedBy === 'parent')
    return `The record must have the \`record_type\` of the ${parent.singular}. ${again}`;
  const own = Object.keys(link.fields).filter(() => !isMixed(link));
  return [again, ...own.map((name) => `To change \`${name}\`, unlink first.`)].join(' ');
}

// A key that can link but not read gets only the child's ID.
function linkedSchema(typeName: string, item: TSchema, link: Link): TSchema {
  const [child] = Object.values(link.children);
  if (isMixed(link) || child === undefined) return item;
  const bare = recordSchema(itemFields(link, idAlone(getResource(child).fields)));
  return named(`${typeName}LinkResult`, Type.Union([item, named(`${typeName}Reference`, bare)]));
}

function itemSchema(typeName: string, parent: Resource, link: Link): TSchema {
  if (isMixed(link)) return named(typeName, recordSchema(itemFields(link, {})));
  const children = Object.entries(link.children);
  const [only, ...more] = children.map(([singular, child]) =>
    named(
      children.length === 1 ? typeName : typeNameOf(parent, singular),
      recordSchema(itemFields(link, getResource(child).fields)),
    ),
  );
  if (only === undefined) throw new Error(`${parent.name} have no linked resource`);
  return more.length === 0 ? only : named(typeName, Type.Union([only, ...more]));
}
