// The tools that change any record: upsert, update, link and delete.
import { Type } from 'typebox';
import type { Field } from '../../db/model/fields.ts';
import { type Data, isObject } from '../../db/model/json.ts';
import { getLinkKind, LINK_KINDS } from '../../db/model/resources/link-kinds.ts';
import { getResource, RESOURCES } from '../../db/model/resources/registry.ts';
import { ON_MATCH, ON_MISSING } from '../../db/model/upserts.ts';
import { createFields, updateFields } from '../api/body.ts';
import { bodyFor, nameArguments, valueArguments } from './bodies.ts';
import { call, ToolError } from './failures.ts';
import { nothingWithoutScope } from './names.ts';
import { writtenText } from './results.ts';
import { type Service, servicePath } from './service.ts';
import { argumentsOf, CHANGING, fieldValue, oneArgumentOf, type Tool, textArgument } from './tool.ts';

const CHANGEABLE = RESOURCES.filter(({ verbs }) => verbs.includes('update'));
const DELETABLE = RESOURCES.filter(({ verbs }) => verbs.includes('delete')).map(({ name }) => name);
const NAMES = CHANGEABLE.map(({ name }) => name);

function allFields(fieldsOf: (resource: (typeof CHANGEABLE)[number]) => Record<string, Field>) {
  return Object.assign({}, ...CHANGEABLE.map(fieldsOf)) as Record<string, Field>;
}

const upsert: Tool = {
  name: 'upsert',
  title: 'Create or update a record',
  description:
    'Update the record that has the same email (contacts), domain (companies) or external_id, or create one if there is none. ' +
    'Search first. Records without an email or domain need an external_id, whose source and id you choose, such as {"source": ' +
    '"assistant", "id": "a word of your own"}. Send the fields of the resource as describe lists them.',
  input: argumentsOf({
    resource: oneArgumentOf(NAMES),
    external_id: Type.Optional(
      Type.Object({ source: Type.String(), id: Type.String() }, { additionalProperties: false }),
    ),
    match: Type.Optional(Type.Array(oneArgumentOf(['external_id', 'email', 'domain']))),
    on_match: Type.Optional(oneArgumentOf(ON_MATCH, 'fill: only empty fields. keep: none')),
    on_missing: Type.Optional(oneArgumentOf(ON_MISSING)),
    ...nameArguments(CHANGEABLE),
    ...valueArguments(allFields(createFields), true),
  }),
  hints: CHANGING,
  run: async ({ resource: name, ...given }, service) => {
    const resource = getResource(String(name));
    const body = await bodyFor(resource, given, service, () =>
      recordWithExternalId(resource.name, given, service),
    );
    const { outcome, matched_by, ...record } = await service.write(
      `${servicePath(resource.name)}/upsert`,
      body,
    );
    const by = matched_by === null ? '' : `, found by its ${matched_by}`;
    const done = outcome === 'unchanged' ? 'Left unchanged' : outcome === 'created' ? 'Created' : 'Updated';
    return writtenText(`${done}${by}`, record, resource.name);
  },
};

/** The record with the external ID; undefined if there is none, or if the key cannot read it. */
async function recordWithExternalId(
  resource: string,
  { external_id }: Data,
  service: Service,
): Promise<Data | undefined> {
  if (!isObject(external_id)) return undefined;
  const query = { external_id: `${external_id.source}:${external_id.id}`, limit: '1' };
  const { records } = await service.list(servicePath(resource), query).catch(nothingWithoutScope);
  return records[0];
}

const update: Tool = {
  name: 'update',
  title: 'Update a record',
  description:
    'Change the given fields of a record and leave all others. null clears a field; custom is merged. Send the fields of the ' +
    'resource as describe lists them.',
  input: argumentsOf({
    resource: oneArgumentOf(NAMES),
    id: textArgument(),
    ...nameArguments(CHANGEABLE),
    ...valueArguments(allFields(updateFields), true),
  }),
  hints: CHANGING,
  run: async ({ resource: name, id, ...given }, service) => {
    const resource = getResource(String(name));
    if (Object.keys(given).length === 0)
      throw new ToolError('VALIDATION_REQUIRED_FIELD', 'no field to change is given', {
        steps: [`${call('describe', { resource: name })} lists the fields.`],
      });
    const path = servicePath(resource.name, id);
    const body = await bodyFor(resource, given, service, async () => (await service.get(path)).record);
    // A batch says whether anything was changed.
    const batch = `${servicePath(resource.name)}/batch/update`;
    const { status, data = {} } = await service.writeOne(batch, { id: String(id), ...body });
    return writtenText(status === 'unchanged' ? 'Left unchanged' : 'Updated', data, resource.name);
  },
};

const OWN_FIELDS: Readonly<Record<string, Field>> = Object.assign(
  {},
  ...LINK_KINDS.map(({ link }) => link.fields),
);

const link: Tool = {
  name: 'link',
  title: 'Link two records',
  description:
    'Link a record (id) to its parent (parent_id). record_type is for notes.records, supervisor, the ID of a contact, for ' +
    'deals.contacts. A meeting has one deal and one company: a new one replaces it.',
  input: argumentsOf({
    of: oneArgumentOf(
      LINK_KINDS.map(({ name }) => name),
      'Parents, and what is linked',
    ),
    parent_id: textArgument(),
    id: textArgument(),
    ...Object.fromEntries(
      Object.entries(OWN_FIELDS).map(([name, field]) => [name, Type.Optional(fieldValue(field, false))]),
    ),
  }),
  hints: CHANGING,
  run: async (given, service) => {
    const parent = servicePath(getLinkKind(String(given.of)).parent.name);
    const { status } = await service.writeOne('/api/v2/links/batch', given, parent);
    return status === 'unchanged' ? 'They are linked already. Nothing was changed.' : 'Linked.';
  },
};

const remove: Tool = {
  name: 'delete',
  title: 'Delete a record',
  description:
    'Delete a record, and its links. Ask the person first: it is gone for everyone. References to it become empty.',
  input: argumentsOf({ resource: oneArgumentOf(DELETABLE), id: textArgument() }),
  hints: CHANGING,
  run: async ({ resource, id }, service) => {
    const { requestId } = await service.writeOne(`${servicePath(String(resource))}/batch/delete`, String(id));
    return `Deleted ${resource} ${id}.\nIf it was a mistake, a person can undo it where the server keeps changes: crm undelete --request ${requestId}`;
  },
};

export const WRITE_TOOLS: readonly Tool[] = [upsert, update, link];
export const DELETE_TOOL: Tool = remove;
