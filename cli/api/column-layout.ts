// How records of each resource, version and sub-resource look on stdout.
import { externalIdFields } from '../../db/model/external-ids.ts';
import { childOf, isMixed, itemFields } from '../../db/model/links.ts';
import type { Resource } from '../../db/model/resource.ts';
import { type ColumnLayout, instantsOf } from '../terminal/output.ts';
import { resourceNamed, type Target } from './target.ts';
import type { V1List } from './v1.ts';

// Names of the fields that a response carries.
function shownFields(resource: Resource): string[] {
  return Object.entries(resource.fields).flatMap(([name, field]) =>
    field.access === 'input' || field.access === 'internal' ? [] : [name],
  );
}

/** The look of a resource's records. */
export function resourceColumns(resource: Resource): ColumnLayout {
  return {
    columns: resource.columns,
    allFields: shownFields(resource),
    instants: instantsOf(resource.fields),
  };
}

/** The look of the records in a v1 list. */
export function v1Columns(list: V1List): ColumnLayout {
  return { columns: list.columns, allFields: list.fields };
}

const EXTERNAL_ID_FIELDS = [...Object.keys(externalIdFields), 'created_at'];

/** The look of the records of a sub-resource; children of several types share only the fields of the link. */
export function targetColumns(target: Target): ColumnLayout {
  const { resource, link, association } = target;
  if (link === undefined && association === undefined)
    return { columns: EXTERNAL_ID_FIELDS, allFields: EXTERNAL_ID_FIELDS };
  const childName =
    association === undefined ? link && childOf(link) : resource.fields[association.column]?.references;
  if (childName !== undefined) {
    const look = resourceColumns(resourceNamed(childName));
    const added = link === undefined ? [] : ['linked_at', ...Object.keys(link.fields)];
    return { ...look, columns: [...look.columns, ...added], allFields: [...look.allFields, ...added] };
  }
  if (link !== undefined && isMixed(link)) {
    const fields = Object.keys(itemFields(link, {}));
    return { columns: fields, allFields: fields };
  }
  return {
    columns: ['id', 'email', 'first_name', 'last_name', 'name', 'domain', 'linked_at'],
    allFields: [],
  };
}
