// Finds the field for a column of another product's export.
import type { Field } from '../../../db/model/fields.ts';
import type { Resource } from '../../../db/model/resource.ts';
import { ERROR_COLUMNS } from '../row.ts';

export type LookupKind = 'company' | 'pipeline' | 'stage' | 'contact' | 'owner';

/** Where the values of a column go. */
export type Destination =
  | { kind: 'field'; field: string; factor?: string }
  | { kind: 'custom'; key: string }
  | { kind: 'lookup'; lookup: LookupKind; field: string }
  /** Whether a deal is open, won or lost, which its stage must agree with. */
  | { kind: 'status'; field: 'stage_id' }
  | { kind: 'external ID'; source: string }
  | { kind: 'left out'; reason: 'asked for' | 'not known' | 'read-only' | 'of the errors file' };

/** The meaning of a header, and its rank among the columns for the same field: the lowest comes first. */
export interface ColumnMatch {
  destination: Destination;
  rank: number;
  /** Of a field that only the server sets: what the column means in a file of another product, if anything. */
  elsewhere?: ColumnMatch;
  /** Whether it is the whole name of a person, which only counts in a file without columns of its parts. */
  isWholeName?: boolean;
}

const WHOLE_NAMES = ['Full Name', 'Name', 'Display Name', 'Person - Name', 'Contact Name'];
const STATUS_NAMES = ['Status', 'Deal Status', 'Deal - Status', 'Opportunity Status'];

const LOOKUPS: Readonly<Record<string, { lookup: LookupKind; names: readonly string[] }>> = {
  companies: {
    lookup: 'company',
    names: [
      'Company Domain',
      'Company Domain Name',
      'Company Name',
      'Organization',
      'Organization Name',
      'Organization - Name',
      'Organization 1 - Name',
      'Person - Organization',
      'Deal - Organization',
      'Associated Company',
      'Associated Company (Primary)',
      'Account Name',
      'Account',
    ],
  },
  contacts: {
    lookup: 'contact',
    names: [
      'Contact Email',
      'Person Email',
      'Person',
      'Point of Contact',
      'Primary Contact',
      'Associated Contact',
      'Associated Contacts',
      'Deal - Contact person',
    ],
  },
  pipelines: {
    lookup: 'pipeline',
    names: ['Pipeline Name', 'Deal Pipeline', 'Deal - Pipeline', 'Sales Pipeline'],
  },
  stages: {
    lookup: 'stage',
    names: ['Stage Name', 'Deal Stage', 'Deal - Stage', 'Pipeline Stage', 'Opportunity Stage'],
  },
  users: { lookup: 'owner', names: ['Owner Email', 'Record owner'] },
};

/** Lower-case letters and digits only: `E-mail Address` and `email_address` are the same. */
export function headerKey(header: string): string {
  return header
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');
}

/** Fields that an import can set, in the order of the declaration. */
export function writableFields(resource: Resource): [string, Field][] {
  return Object.entries(resource.fields).filter(([, { access }]) =>
    ['write', 'create', 'input'].includes(access),
  );
}

/** The lookups that a resource's references allow: the kind of lookup, and the field for the ID. */
export function lookupsOf(resource: Resource): Map<LookupKind, string> {
  const lookups = new Map<LookupKind, string>();
  for (const [name, field] of writableFields(resource)) {
    const known = lookupOf(resource, field);
    if (known !== undefined) lookups.set(known.lookup, name);
  }
  return lookups;
}

function lookupOf(resource: Resource, { kind, references = '' }: Field) {
  const known = kind === 'reference' ? LOOKUPS[references] : undefined;
  // An interaction has its own field for the email of its contact.
  const hasOwnEmail = resource.fields.main_contact_email !== undefined;
  return known?.lookup === 'contact' && hasOwnEmail ? undefined : known;
}

interface FieldName extends ColumnMatch {
  name: string;
  /** The lowest has the strongest claim on a name. */
  tier: number;
}

/** The names of all fields, lookups included. */
export function fieldNames(resource: Resource): string[] {
  const own = writableFields(resource).map(([name]) => (name === 'custom' ? 'custom.KEY' : name));
  return [...own, ...lookupsOf(resource).keys(), ...(hasStatus(resource) ? ['status'] : [])];
}

function hasStatus({ fields }: Resource): boolean {
  return fields.stage_id !== undefined && fields.status !== undefined;
}

/** Names that a column may have in the files of other products, but that are not those of a field. */
function namesElsewhere(resource: Resource): Map<string, ColumnMatch> {
  const { first_name, last_name } = resource.fields;
  const wholeName = first_name === undefined || last_name === undefined ? [] : WHOLE_NAMES;
  const status = hasStatus(resource) ? STATUS_NAMES : [];
  return new Map([
    ...wholeName.map((name, rank): [string, ColumnMatch] => [
      headerKey(name),
      { destination: { kind: 'field', field: 'first_name' }, rank, isWholeName: true },
    ]),
    ...status.map((name, rank): [string, ColumnMatch] => [
      headerKey(name),
      { destination: { kind: 'status', field: 'stage_id' }, rank },
    ]),
  ]);
}

/** The names for a field, in order of priority. */
function namesOf(resource: Resource, name: string, field: Field): FieldName[] {
  const { lookup, names: others = [] } = lookupOf(resource, field) ?? {};
  const { aliases } = field;
  const own: Destination = { kind: 'field', field: name };
  const found: Destination = lookup === undefined ? own : { kind: 'lookup', lookup, field: name };
  const isPlaced = aliases.some((alias) => alias === name);
  const names = [
    ...(isPlaced ? [] : [name]),
    ...(lookup === undefined ? [] : [lookup]),
    ...aliases,
    ...others,
  ];
  return names.map((alias, rank) => {
    const tier = alias === name ? 0 : alias === lookup ? 1 : aliases.includes(alias) ? 2 : 3;
    return { name: alias, tier, destination: tier === 0 ? own : found, rank };
  });
}

/** Finds the meaning of a column with this header; undefined if it is unknown. */
export type HeaderMatcher = (header: string) => ColumnMatch | undefined;

/** Finds destinations by name for one resource. */
export function headerMatcher(resource: Resource): HeaderMatcher {
  const byKey = new Map<string, ColumnMatch>();
  // Keys in which `#` matches any number.
  const byPattern = new Map<string, ColumnMatch>();
  const others = namesElsewhere(resource);
  const names = writableFields(resource).flatMap(([name, field]) => namesOf(resource, name, field));
  for (const { name, destination, rank } of names.sort((one, other) => one.tier - other.tier)) {
    const isPattern = name.includes('#');
    const key = isPattern ? patternOf(name.replace('#', '0')) : headerKey(name);
    const map = isPattern ? byPattern : byKey;
    if (!map.has(key)) map.set(key, { destination, rank });
  }
  return function find(header): ColumnMatch | undefined {
    if ((ERROR_COLUMNS as readonly string[]).includes(header)) return leftOut('of the errors file');
    const [, key] = /^custom\.(.+)$/is.exec(header) ?? [];
    if (key !== undefined && resource.fields.custom !== undefined) {
      return { destination: { kind: 'custom', key }, rank: 0 };
    }
    const found = byKey.get(headerKey(header)) ?? byPattern.get(patternOf(header));
    if (found !== undefined) return found;
    const elsewhere = others.get(headerKey(header));
    // Exactly as an export writes it, so that a user's own column "Status" is not lost.
    if (resource.fields[header]?.access === 'read')
      return { ...leftOut('read-only'), ...(elsewhere && { elsewhere }) };
    if (elsewhere !== undefined) return elsewhere;
    const [, name, number] = /^(.+) \((\d+)\)$/s.exec(header) ?? [];
    const first = name === undefined ? undefined : find(name);
    return first && { ...first, rank: first.rank + Number(`0.${number}`) };
  };
}

function patternOf(header: string): string {
  return headerKey(header).replace(/\d+/g, '#');
}

function leftOut(reason: 'read-only' | 'of the errors file'): ColumnMatch {
  return { destination: { kind: 'left out', reason }, rank: 0 };
}

/** What a destination fills; null if several columns may fill it together. */
export function slotOf(resource: Resource, destination: Destination): string | null {
  if (destination.kind === 'left out' || destination.kind === 'external ID') return null;
  if (destination.kind === 'custom') return `custom.${destination.key}`;
  if (destination.kind === 'status') return 'status';
  const kind = resource.fields[destination.field]?.kind;
  return kind === 'emails' || kind === 'custom' ? null : destination.field;
}
