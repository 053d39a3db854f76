// Tables beside the records': links that clients see, and rows that only the service knows; what differs between kinds of link is asked here.
import type { TSchema } from 'typebox';
import { enumeration, exampleId, type Field, reference, timestamp } from './fields.ts';
import type { Data } from './json.ts';
import type { Link, Match, Row, SideTable } from './resource.ts';
import { bodySchema } from './schemas.ts';

/** Completes the declaration of a link: no fields of its own unless given, its type among them where it tells one. */
export function link(
  options: SideTable & Pick<Link, 'description'> & Partial<Pick<Link, 'typedBy' | 'fields'>>,
): Link {
  const { typedBy = null, fields = {} } = options;
  const type = enumeration(Object.keys(options.children), { required: true, description: 'What it is.' });
  return { ...options, typedBy, fields: typedBy === 'link' ? { record_type: type, ...fields } : fields };
}

/**
 * The resource (plural) of a child, as far as it is known from the link's row or body and from its parent; undefined
 * where it takes more to tell.
 */
export function childOf(
  { typedBy, children }: Link,
  known: { link?: Data | Row; parent?: Data | Row } = {},
): string | undefined {
  return typedBy === null ? Object.values(children)[0] : children[String(known[typedBy]?.record_type)];
}

/** Whether one list holds children of several resources, which it then shows by type and id alone. */
export function isMixed({ typedBy }: Link): boolean {
  return typedBy === 'link';
}

/** The fields of an item in the list of a link: those of the child, or in a mixed list its id, and those of the link. */
export function itemFields(link: Link, childFields: Record<string, Field>): Record<string, Field> {
  const linked_at = timestamp({ required: true, description: 'When it was linked.' });
  if (!isMixed(link)) return { ...childFields, ...link.fields, linked_at };
  return { ...link.fields, [link.childColumn]: reference('', { required: true }), linked_at };
}

/** Schema of the body that makes a link: the child's id and the link's own fields. */
export function linkSchema({ children, childColumn, fields }: Link): TSchema {
  const [child = ''] = Object.values(children);
  const id = reference(child, { required: true, example: exampleId(child) });
  return bodySchema({ ...fields, [childColumn]: id }, () => true, true);
}

/** Match of the parents that a child is tied to. */
export function parentsOf({ table, parentColumn, childColumn }: SideTable): Match {
  return { table, record: parentColumn, value: childColumn };
}

/** Match of the children that are tied to a parent. */
export function childrenOf({ table, parentColumn, childColumn }: SideTable): Match {
  return { table, record: childColumn, value: parentColumn };
}
