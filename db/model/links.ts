// Tables that belong to records: links that clients see and internal rows; answers how kinds of link differ.
import type { TSchema } from 'typebox';
import { enumeration, exampleId, type Field, reference, timestamp } from './fields.ts';
import type { Data } from './json.ts';
import type { Link, Match, Row, SideTable } from './resource.ts';
import { bodySchema } from './schemas.ts';

/** Completes the declaration of a link: without own fields by default, and with a type field if the link stores it. */
export function link(
  options: SideTable & Pick<Link, 'description'> & Partial<Pick<Link, 'typedBy' | 'fields'>>,
): Link {
  const { typedBy = null, fields = {} } = options;
  const type = enumeration(Object.keys(options.children), {
    required: true,
    description: 'The type of the record.',
  });
  return { ...options, typedBy, fields: typedBy === 'link' ? { record_type: type, ...fields } : fields };
}

/**
 * The resource (plural) of a child, as far as the link's row or body and its parent determine it; undefined if they do
 * not.
 */
export function childOf(
  { typedBy, children }: Link,
  known: { link?: Data | Row | undefined; parent?: Data | Row | undefined } = {},
): string | undefined {
  if (typedBy !== null) return children[String(known[typedBy]?.record_type)];
  // Without making a list of them.
  for (const type in children) return children[type];
}

/** Whether one list contains children of several resources, which it shows by type and ID only. */
export function isMixed({ typedBy }: Link): boolean {
  return typedBy === 'link';
}

/** The time of a link, as responses show it. */
export function linkedAtField(): Field {
  return timestamp({ required: true, description: 'When it was linked.' });
}

/** The fields of a list item: those of the child (in a mixed list only its ID) and those of the link. */
export function itemFields(link: Link, childFields: Record<string, Field>): Record<string, Field> {
  const linked_at = linkedAtField();
  if (!isMixed(link)) return { ...childFields, ...link.fields, linked_at };
  return { ...link.fields, [link.childColumn]: reference('', { required: true }), linked_at };
}

/** Schema of the body that creates a link: the child's ID and the link's own fields. */
export function linkSchema({ children, childColumn, fields }: Link): TSchema {
  const [child = ''] = Object.values(children);
  const id = reference(child, { required: true, example: exampleId(child) });
  return bodySchema({ ...fields, [childColumn]: id }, () => true, true);
}

/** Match of the parents that a child belongs to. */
export function parentsOf({ table, parentColumn, childColumn }: SideTable): Match {
  return { table, record: parentColumn, value: childColumn };
}

/** Match of the children that belong to a parent. */
export function childrenOf({ table, parentColumn, childColumn }: SideTable): Match {
  return { table, record: childColumn, value: parentColumn };
}
