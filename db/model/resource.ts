// defineResource(): derives schemas, columns, scopes and lists from one declaration.

import { type TSchema, Type } from 'typebox';
import {
  type ColumnValue,
  exampleId,
  type Field,
  idSchema,
  keyColumn,
  reference,
  timestamp,
} from './fields.ts';
import { bodySchema, named, recordSchema } from './schemas.ts';
import { singularOf } from './text.ts';

export type Action = 'read' | 'write' | 'delete';
/** The operations that a resource can have. */
export type Verb = 'list' | 'get' | 'create' | 'update' | 'delete' | 'batch';
export type Row = { [column: string]: ColumnValue };

/** A way to find a filter's value: in a column of the record, as the key of a field, or through a table of links. */
export type Match =
  | { readonly column: string; readonly operator: '=' | '<' | '>=' }
  | { readonly keyed: string }
  | { readonly table: string; readonly record: string; readonly value: string };

/** A query parameter of a list; a record passes if any of the matches holds. */
export interface Filter {
  readonly type: 'text' | 'boolean' | 'instant' | 'external ID' | readonly string[];
  readonly match: readonly Match[];
  /** Converts the value as sent into the value as stored. */
  readonly normalize: (value: string) => string;
  /** The resources that the value can be an ID of: the ID of a record hidden from the key finds nothing. */
  readonly references: readonly string[];
  /** Whether its values are email addresses or telephone numbers, which contain no spaces but often a plus. */
  readonly isAddress: boolean;
  readonly description: string;
}

/** A table of rows that belong to a parent record, can refer to a child, and are deleted with either. */
export interface SideTable {
  readonly table: string;
  /** Column with the parent's ID. */
  readonly parentColumn: string;
  /** Column that identifies a row of a parent: the child's ID, if rows have a child. */
  readonly childColumn: string;
  /** The resources that a child can belong to, by their singular; empty if rows have no child. */
  readonly children: Readonly<Record<string, string>>;
  /** The filter whose unique values the rows hold, if they are found by value and not by parent. */
  readonly holds?: string;
}

/** A collection sub-resource: `/{parent}/{id}/{name}`. In the body, the child is named as the child's column. */
export interface Link extends SideTable {
  /** Whose record_type says which resource the child belongs to: the link's own, the parent's, or null for a fixed one. */
  readonly typedBy: 'link' | 'parent' | null;
  /** The link's own fields. */
  readonly fields: Readonly<Record<string, Field>>;
  readonly description: string;
}

/** A single association: `/{parent}/{id}/{name}`, stored in a column of the parent. */
export interface Association {
  /** A reference field of the parent, which determines the child's resource. */
  readonly column: string;
  /** A field of the parent with the time at which it was set. */
  readonly linkedAt: string;
  readonly description: string;
}

export interface ResourceOptions {
  name: string;
  description: string;
  verbs: readonly Verb[];
  /** Behavior of an operation that its schemas do not express and that could surprise; in Markdown. */
  explanations?: Partial<Record<Verb | 'undelete', string>>;
  scopes: readonly Action[];
  /** The field with the owner of a record; null if records belong to the organization. */
  owner: string | null;
  fields: Record<string, Field>;
  /** Fields of which at least one must be set. */
  identifying?: readonly string[];
  /** A create must have exactly one of these fields. */
  exactlyOneOf?: readonly string[];
  /** Values that only one record can have: the filter that finds it, and the fields with such values. */
  unique?: Record<string, readonly string[]>;
  /** Fields that identify a duplicate of an existing record on create, if the first of them is sent. */
  repeatedBy?: readonly string[];
  filters?: Record<string, Filter>;
  /** The fields that lists can be sorted and filtered by time with; pipelines have only created_at. */
  sorts?: readonly ('created_at' | 'updated_at')[];
  /** The fields that queries can be sorted by besides these two; each has an index, also of the records without a value. */
  alsoSortedBy?: readonly string[];
  links?: Record<string, Link>;
  associations?: Record<string, Association>;
  /** Tables whose rows belong to records of this resource but are not links that clients see. */
  sideTables?: readonly SideTable[];
  /** What the response to a create contains beyond the record. */
  createdFields?: Record<string, Field>;
  /** Fields that a table on a terminal shows. */
  columns: readonly string[];
}

export interface Resource extends Required<ResourceOptions> {
  readonly singular: string;
  /** All fields, including the common ones, in the order of responses. */
  readonly fields: Record<string, Field>;
  /** Stored columns with their types, without org_id. */
  readonly storedColumns: readonly string[];
  readonly createSchema: TSchema;
  readonly updateSchema: TSchema;
  readonly responseSchema: TSchema;
}

/** How many related records a record includes by each name. */
export const RELATED_MAX = 10;

const includedIds = Type.Object(
  {},
  {
    additionalProperties: Type.Array(idSchema(), { maxItems: RELATED_MAX }),
    description: 'Only with `include`: the IDs of what the record includes, by name, newest first.',
    examples: [],
  },
);

const ID = reference('', { access: 'read', required: true, description: 'UUIDv7 of the record.' });
const COMMON_LAST = {
  created_by: reference('', {
    access: 'read',
    required: true,
    example: exampleId('users'),
    description: 'The user of a user-bound key; otherwise the ID of the API key.',
  }),
  created_at: timestamp({ required: true, description: 'When the record was created.' }),
  updated_at: timestamp({ required: true, description: 'When the record was last changed.' }),
};

/** Completes a declaration with the common fields and everything derived from its fields. */
export function defineResource(options: ResourceOptions): Resource {
  const id = { ...ID, example: exampleId(options.name) };
  const fields = { id, ...options.fields, ...COMMON_LAST };
  const singular = singularOf(options.name);
  const typeName = singular.charAt(0).toUpperCase() + singular.slice(1);
  const createSchema = once(() =>
    named(
      `${typeName}Create`,
      bodySchema(fields, ({ access }) => access !== 'read' && access !== 'internal', true),
    ),
  );
  const updateSchema = once(() =>
    named(
      `${typeName}Update`,
      bodySchema(fields, ({ access }) => access === 'write', false),
    ),
  );
  const responseSchema = once(() =>
    named(typeName, recordSchema(fields, { included_ids: Type.Optional(includedIds) })),
  );
  return {
    singular,
    identifying: [],
    exactlyOneOf: [],
    unique: {},
    repeatedBy: [],
    filters: {},
    sorts: ['created_at', 'updated_at'],
    alsoSortedBy: [],
    links: {},
    associations: {},
    sideTables: [],
    createdFields: {},
    explanations: {},
    ...options,
    fields,
    storedColumns: storedColumnsOf(fields),
    get createSchema() {
      return createSchema();
    },
    get updateSchema() {
      return updateSchema();
    },
    get responseSchema() {
      return responseSchema();
    },
  };
}

// When it is first asked for: a command that only needs the names of fields starts without a schema.
function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/** Whether records of the resource can have IDs of other systems. */
export function hasExternalIds({ verbs }: Pick<ResourceOptions, 'verbs'>): boolean {
  return verbs.includes('update');
}

function storedColumnsOf(fields: Record<string, Field>): string[] {
  return Object.entries(fields).flatMap(([name, { column, access, key }]) =>
    column === null || access === 'input' ? [] : key === null ? [name] : [name, keyColumn(name)],
  );
}

/** `resource:action` scopes of one resource. */
export function scopesOf(resource: Resource): string[] {
  return resource.scopes.map((action) => `${resource.name}:${action}`);
}
