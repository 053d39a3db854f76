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
  | { kind: 'left out'; reason: 'asked for' | 'not known' | 'read-only' | 'of the errors file' };

/** The meaning of a header, and its rank among the columns for the same field: the lowest comes first. */
export interface ColumnMatch {
  destination: Destination;
  rank: number;
}

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

function lookupOf(resource: Resource, { references }: Field) {
  const known = references === undefined ? undefined : LOOKUPS[references];
  // An interaction has its own field for the email of its contact.
  const hasOwnEmail = resource.fields.main_contact_email !== undefined;
  return known?.lookup === 'contact' && hasOwnEmail ? undefined : known;
}

/** The names for a field, in order of priority; a lower tier has a stronger claim on a name. */
function namesOf(
  resource: Resource,
  name: string,
  field: Field,
): { name: string; destination: Destination; tier: number }[] {
  const destination: Destination = { kind: 'field', field: name };
  const known = lookupOf(resource, field);
  if (known !== undefined) {
    const found: Destination = { kind: 'lookup', lookup: known.lookup, field: name };
    return [
      { name, destination, tier: 0 },
      { name: known.lookup, destination: found, tier: 1 },
      ...field.aliases.map((alias) => ({ name: alias, destination: found, tier: 2 })),
      ...known.names.map((alias) => ({ name: alias, destination: found, tier: 3 })),
    ];
  }
  const isPlaced = field.aliases.some((alias) => alias === name);
  return (isPlaced ? field.aliases : [name, ...field.aliases]).map((alias) => ({
    name: alias,
    destination,
    tier: alias === name ? 0 : 2,
  }));
}

/** Finds destinations by name for one resource. */
export class HeaderMatcher {
  readonly #resource: Resource;
  readonly #byKey = new Map<string, ColumnMatch>();
  /** Keys in which `#` matches any number. */
  readonly #byPattern = new Map<string, ColumnMatch>();

  constructor(resource: Resource) {
    this.#resource = resource;
    const names = writableFields(resource).map(([name, field]) => namesOf(resource, name, field));
    for (const tier of [0, 1, 2, 3]) {
      for (const ofField of names) {
        for (const [rank, { name, destination, tier: own }] of ofField.entries()) {
          if (own === tier) this.#add(name, { destination, rank });
        }
      }
    }
  }

  #add(name: string, match: ColumnMatch): void {
    const isPattern = name.includes('#');
    const [map, key] = isPattern
      ? [this.#byPattern, patternOf(name.replace('#', '0'))]
      : [this.#byKey, headerKey(name)];
    if (!map.has(key)) map.set(key, match);
  }

  /** Whether a field contains numbers, which can be multiplied. */
  isNumber(field: string): boolean {
    return ['integer', 'number'].includes(this.#resource.fields[field]?.kind ?? '');
  }

  /** The meaning of a column with this header, or undefined if it is unknown. */
  find(header: string): ColumnMatch | undefined {
    if ((ERROR_COLUMNS as readonly string[]).includes(header)) return leftOut('of the errors file');
    const custom = /^custom\.(.+)$/is.exec(header);
    if (custom?.[1] !== undefined && this.#resource.fields.custom !== undefined) {
      return { destination: { kind: 'custom', key: custom[1] }, rank: 0 };
    }
    const found = this.#byKey.get(headerKey(header)) ?? this.#byPattern.get(patternOf(header));
    if (found !== undefined) return found;
    // Exactly as an export writes it, so that a user's own column "Status" is not lost.
    if (this.#resource.fields[header]?.access === 'read') return leftOut('read-only');
    const doubled = /^(.+) \((\d+)\)$/s.exec(header);
    const first = doubled?.[1] === undefined ? undefined : this.find(doubled[1]);
    return first && { ...first, rank: first.rank + Number(`0.${doubled?.[2]}`) };
  }
}

function patternOf(header: string): string {
  return headerKey(header).replace(/\d+/g, '#');
}

function leftOut(reason: 'read-only' | 'of the errors file'): ColumnMatch {
  return { destination: { kind: 'left out', reason }, rank: 0 };
}

/** What a destination fills; null if several columns may fill it together. */
export function slotOf(resource: Resource, destination: Destination): string | null {
  if (destination.kind === 'left out') return null;
  if (destination.kind === 'custom') return `custom.${destination.key}`;
  const kind = resource.fields[destination.field]?.kind;
  return kind === 'emails' || kind === 'custom' ? null : destination.field;
}
