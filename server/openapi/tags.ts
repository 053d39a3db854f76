// The groups that operations are shown in.
import type { Data } from '../../db/model/json.ts';
import { RESOURCES } from '../../db/model/resources/registry.ts';
import { titleOf } from '../v2/naming.ts';

// In the order of the contract: people first, then what is done with them.
const FIRST = ['contacts', 'companies'];

const V1_TAGS: [name: string, description: string][] = [
  ['v1 Authentication', 'Deprecated. Tells whose key it is.'],
  ['v1 People', 'Deprecated: contacts in version 2.'],
  ['v1 Companies', 'Deprecated: the companies of version 2, with additional properties at top level.'],
  ['v1 Interactions', 'Deprecated: the interactions of version 2.'],
];

/** All groups in order, with what they are about. */
export function tags(): Data[] {
  const rank = (name: string) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  const ordered = RESOURCES.toSorted((a, b) => rank(a.name) - rank(b.name));
  return [
    ...ordered.map((resource) => ({ name: titleOf(resource), description: resource.description })),
    ...V1_TAGS.map(([name, description]) => ({ name, description })),
  ];
}
