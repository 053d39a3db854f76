// Checks IDs on the command line before anything is sent, and suggests the command that lists them.
import { clip, joinWithOr, singularOf, withArticle } from '../../db/model/text.ts';
import { type CliError, usageError } from '../errors.ts';
import { shellWord } from '../terminal/text.ts';

/** The command that lists the IDs of a resource, of `stages`, of `users` or of `webhooks`. */
export function commandForIds(resource: string): string {
  if (resource === 'users') return 'crm users list --org NAME';
  if (resource === 'webhooks') return 'crm webhooks list';
  return resource === 'stages' ? 'crm list pipelines -o json' : `crm list ${resource}`;
}

interface Unidentified {
  /** The filter. */
  key: string;
  value: string;
  /** The resources whose IDs it takes. */
  resources: readonly string[];
  /** What can be named in its place. */
  kind: string | undefined;
}

/** The error for the value of a filter by ID that is not an ID. */
export function notAnId(list: string, { key, value, resources, kind }: Unidentified): CliError {
  const owner = withArticle(joinWithOr(resources.map(singularOf)));
  const named = shellWord(`${kind}=${value}`);
  return usageError(
    `--filter ${key} needs the ID of ${owner}, and "${clip(value)}" is not an ID.`,
    ...(kind === undefined ? [] : [`crm list ${list} --filter ${named}   (takes the name)`]),
    ...resources.map((resource) => `${commandForIds(resource)}   (lists the IDs)`),
  );
}
