// Checks IDs on the command line before anything is sent, and suggests the command that lists them.
import { singularOf, withArticle } from '../../db/model/text.ts';
import { usageError } from '../errors.ts';
import { isOurId } from '../input/record-id.ts';

const nouns = new Intl.ListFormat('en', { type: 'disjunction' });

/** The command that lists the IDs of a resource, of `stages`, of `users` or of `webhooks`. */
export function commandForIds(resource: string): string {
  if (resource === 'users') return 'crm users list --org NAME';
  if (resource === 'webhooks') return 'crm webhooks list';
  return resource === 'stages' ? 'crm list pipelines -o json' : `crm list ${resource}`;
}

/** Throws a usage error if the value of a filter by ID is not an ID; a filter may accept IDs of several resources. */
export function assertId(filter: string, value: string, resources: readonly string[]): void {
  if (isOurId(value)) return;
  const owner = withArticle(nouns.format(resources.map(singularOf)));
  throw usageError(
    `--filter ${filter} needs the ID of ${owner}, and "${value}" is not an ID.`,
    ...resources.map((resource) => `${commandForIds(resource)}   (lists the IDs)`),
  );
}
