// Which field a column of another product's export means.
import type { Field } from '../../../db/declare/fields.ts';
import type { Resource } from '../../../db/declare/resource.ts';
import { ERROR_COLUMNS } from '../row.ts';

export type LookupKind = 'company' | 'pipeline' | 'stage' | 'contact';

/** Where the values of a column go. */
export type Destination =
  | { kind: 'field'; field: string; factor?: string }
  | { kind: 'custom'; key: string }
  | { kind: 'lookup'; lookup: LookupKind; field: string }
  | { kind: 'left out'; reason: 'asked for' | 'read-only' | 'of the errors file' };

const LOOKUPS: Readonly<Record<string, { lookup: LookupKind; names: readonly string[] }>> = {
  companies: {
    lookup: 'company',
    names: [
      'Company',
      'Company Name',
      'Company Domain',
      'Company Domain Name',
      'Account',
      'Account Name',
      'Organization',
      'Organization Name',
      'Organization - Name',
      'Organization 1 - Name',
      'Person - Organization',
      'Deal - Organization',
      'Associated Company',
    ],
  },
  contacts: {
    lookup: 'contact',
    names: [
      'Contact',
      'Contact Email',
      'Person',
      'Person Email',
      'Point of Contact',
      'Primary Contact',
      'Associated Contact',
      'Deal - Contact person',
    ],
  },
  pipelines: {
    lookup: 'pipeline',
    names: ['Pipeline', 'Pipeline Name', 'Deal Pipeline', 'Deal - Pipeline', 'Sales Pipeline'],
  },
  stages: {
    lookup: 'stage',
    names: ['Stage', 'Stage Name', 'Deal Stage', 'Deal - Stage', 'Pipeline Stage', 'Opportunity Stage'],
  },
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

/** The lookups that a resource's references allow: the kind of lookup, and the field that takes the id. */
export function lookupsOf(resource: Resource): Map<LookupKind, string> {
  const lookups = new Map<LookupKind, string>();
  // An interaction names its contact by email itself.
  const hasOwnEmail = resource.fields.main_contact_email !== undefined;
  for (const [name, field] of writableFields(resource)) {
    const known = field.references === undefined ? undefined : LOOKUPS[field.references];
    if (known !== undefined && !(known.lookup === 'contact' && hasOwnEmail)) lookups.set(known.lookup, name);
  }
  return lookups;
}

/** Finds destinations by name for one resource. */
export class HeaderMatcher {
  readonly #resource: Resource;
  readonly #byKey = new Map<string, Destination>();

  constructor(resource: Resource) {
    this.#resource = resource;
    for (const [field] of writableFields(resource)) this.#add(field, { kind: 'field', field });
    for (const [lookup, field] of lookupsOf(resource)) this.#add(lookup, { kind: 'lookup', lookup, field });
    for (const [field, { aliases }] of writableFields(resource)) {
      for (const alias of aliases) this.#add(alias, { kind: 'field', field });
    }
    for (const { lookup, names } of Object.values(LOOKUPS)) {
      const field = lookupsOf(resource).get(lookup);
      if (field !== undefined) for (const name of names) this.#add(name, { kind: 'lookup', lookup, field });
    }
  }

  #add(name: string, destination: Destination): void {
    const key = headerKey(name);
    if (!this.#byKey.has(key)) this.#byKey.set(key, destination);
  }

  /** Where a column of that header goes, or undefined for one that means nothing here. */
  find(header: string): Destination | undefined {
    if ((ERROR_COLUMNS as readonly string[]).includes(header)) {
      return { kind: 'left out', reason: 'of the errors file' };
    }
    const custom = /^custom\.(.+)$/is.exec(header);
    if (custom?.[1] !== undefined && this.#resource.fields.custom !== undefined) {
      return { kind: 'custom', key: custom[1] };
    }
    const found = this.#byKey.get(headerKey(header));
    if (found !== undefined) return found;
    // Exactly as an export writes it, so that a column of your own called "Status" is not lost.
    const isReadOnly = this.#resource.fields[header]?.access === 'read';
    return isReadOnly ? { kind: 'left out', reason: 'read-only' } : undefined;
  }
}
