// defineResource(): from one declaration, the schemas, columns, scopes and lists that everything else derives from.

import type { TSchema } from 'typebox';
import { type ColumnValue, exampleId, type Field, keyColumn, reference, timestamp } from './fields.ts';
import { bodySchema, named, recordSchema } from './schemas.ts';
import { singularOf } from './text.ts';

export type Action = 'read' | 'write' | 'delete';
/** What can be done with the records of a resource. */
export type Verb = 'list' | 'get' | 'create' | 'update' | 'delete' | 'batch';
export type Row = { [column: string]: ColumnValue };

/** One way in which a filter's value can be found: in a column of the record, as the key of a field, or through a table of links. */
export type Match =
  | { readonly column: string; readonly operator: '=' | '<' | '>=' }
  | { readonly keyed: string }
  | { readonly table: string; readonly record: string; readonly value: string };

/** A query parameter of a list; a record passes when any of the matches holds. */
export interface Filter {
  readonly type: 'text' | 'boolean' | 'instant' | readonly string[];
  readonly match: readonly Match[];
  /** Turns the value as given into the value as stored. */
  readonly normalize: (value: string) => string;
  /** Resources one of which the value is an id of: a record hidden from the key finds nothing. */
  readonly references: readonly string[];
  /** Whether its values are email addresses or telephone numbers, which have no spaces but often a plus. */
  readonly isAddress: boolean;
  readonly description: string;
}

/** A table beside the records': each of its rows belongs to a parent, may tie a child to it, and goes with either. */
export interface SideTable {
  readonly table: string;
  /** Column that holds the parent's id. */
  readonly parentColumn: string;
  /** Column that tells the rows of a parent apart: the id of the child, where they tie one. */
  readonly childColumn: string;
  /** The resources that a child can be of, by their singular; none where the rows tie no record. */
  readonly children: Readonly<Record<string, string>>;
  /** The filter whose unique values of the parent the rows hold, where they are found by these and not by the parent. */
  readonly holds?: string;
}

/** A collection sub-resource: `/{parent}/{id}/{name}`. The body names the child as the child's column is called. */
export interface Link extends SideTable {
  /** Whose record_type says which of several resources the child is of: the link's own or the parent's; null for one. */
  readonly typedBy: 'link' | 'parent' | null;
  /** What the link itself carries. */
  readonly fields: Readonly<Record<string, Field>>;
  readonly description: string;
}

/** A single association: `/{parent}/{id}/{name}`, kept in a column of the parent. */
export interface Association {
  /** A reference field of the parent, which names the child's resource. */
  readonly column: string;
  readonly description: string;
}

export interface ResourceOptions {
  name: string;
  description: string;
  verbs: readonly Verb[];
  /** What an operation does beyond what its schemas say, where a caller could expect something else; in Markdown. */
  explanations?: Partial<Record<Verb, string>>;
  scopes: readonly Action[];
  /** The field that says whose record it is; null where records belong to the organization. */
  owner: string | null;
  fields: Record<string, Field>;
  /** Fields of which at least one must be set. */
  identifying?: readonly string[];
  /** Fields of which a create gives one, and not both. */
  exactlyOneOf?: readonly string[];
  /** Values that one record alone may have: the filter that finds it, and the fields that hold such values. */
  unique?: Record<string, readonly string[]>;
  /** Fields by which a create repeats a record that is there, once the first of them is given. */
  repeatedBy?: readonly string[];
  filters?: Record<string, Filter>;
  /** What lists can be sorted and windowed by; pipelines take created_at alone. */
  sorts?: readonly ('created_at' | 'updated_at')[];
  links?: Record<string, Link>;
  associations?: Record<string, Association>;
  /** Tables whose rows belong to records of this resource, without being links that a client can see. */
  sideTables?: readonly SideTable[];
  /** What the answer to a create carries beyond the record. */
  createdFields?: Record<string, Field>;
  /** Fields that a table on a terminal shows. */
  columns: readonly string[];
}

export interface Resource extends Required<ResourceOptions> {
  readonly singular: string;
  /** All fields, the common ones included, in the order of responses. */
  readonly fields: Record<string, Field>;
  /** Stored columns with their types, without org_id. */
  readonly storedColumns: readonly string[];
  readonly createSchema: TSchema;
  readonly updateSchema: TSchema;
  readonly responseSchema: TSchema;
}

const ID = reference('', { access: 'read', required: true, description: 'UUIDv7 of the record.' });
const COMMON_LAST = {
  created_by: reference('', {
    access: 'read',
    required: true,
    example: exampleId('users'),
    description: 'The user of a user-bound key, else the id of the API key.',
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
  return {
    singular,
    identifying: [],
    exactlyOneOf: [],
    unique: {},
    repeatedBy: [],
    filters: {},
    sorts: ['created_at', 'updated_at'],
    links: {},
    associations: {},
    sideTables: [],
    createdFields: {},
    explanations: {},
    ...options,
    fields,
    storedColumns: storedColumnsOf(fields),
    createSchema: named(
      `${typeName}Create`,
      bodySchema(fields, (field) => field.access !== 'read' && field.access !== 'internal', true),
    ),
    updateSchema: named(
      `${typeName}Update`,
      bodySchema(fields, (field) => field.access === 'write', false),
    ),
    responseSchema: named(typeName, recordSchema(fields)),
  };
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
