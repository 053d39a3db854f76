// Ids on the command line: what cannot be one is told before anything is sent, with the command that shows those there are.
import { singularOf, withArticle } from '../../db/model/text.ts';
import { usageError } from '../errors.ts';
import { isOurId } from '../input/record-id.ts';

const nouns = new Intl.ListFormat('en', { type: 'disjunction' });

/** The command that shows the ids of a resource, of `stages` or of `users`. */
export function commandForIds(resource: string): string {
  if (resource === 'users') return 'crm users list --org NAME';
  return resource === 'stages' ? 'crm list pipelines -o json' : `crm list ${resource}`;
}

/** Throws a usage error where the value of a filter by id has not the form of an id; a filter may take ids of several resources. */
export function assertId(filter: string, value: string, resources: readonly string[]): void {
  if (isOurId(value)) return;
  const owner = withArticle(nouns.format(resources.map(singularOf)));
  throw usageError(
    `--filter ${filter} takes the id of ${owner}, and "${value}" is not an id.`,
    ...resources.map((resource) => `${commandForIds(resource)}   (shows the ids)`),
  );
}
