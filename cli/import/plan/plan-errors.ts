// Reports everything that prevents an import at once, with the command that would work.
import type { Resource } from '../../../db/model/resource.ts';
import { type CliError, usageError } from '../../errors.ts';
import { shellWord } from '../../terminal/text.ts';
import { importCommand } from '../flags.ts';
import type { ImportRequest } from '../request.ts';
import type { SuggestedFlags } from '../suggested-flags.ts';
import { fieldNames } from './headers.ts';

export interface Problem {
  message: string;
  /** The flags that would solve it; none if the input itself must change. */
  changes: SuggestedFlags;
  /** An alternative solution. */
  orElse?: string;
  /** The columns that it is about. */
  headers?: readonly string[];
}

/** The usage error with every problem; `advised` is the request that solves them, or null if flags are not enough. */
export function planError(
  problems: readonly Problem[],
  resource: Resource,
  advised: ImportRequest | null,
): CliError {
  const [header] = problems.flatMap(({ headers = [] }) => headers);
  const others = problems.flatMap(({ orElse }) => (orElse === undefined ? [] : [orElse]));
  return usageError(
    problems.map(({ message }) => message).join('\n'),
    ...(advised === null ? [] : [importCommand(advised)]),
    ...others,
    ...(header === undefined ? [] : [otherMeanings(header, resource)]),
    'or start from a mapping of all columns: --suggest-map prints one for --map-file.',
    `fields of ${resource.name}: ${fieldNames(resource).join(', ')}.`,
  );
}

function otherMeanings(header: string, { fields }: Resource): string {
  const meant = `or map a column with --map ${shellWord(`${header}=FIELD`)}`;
  const leftOut = `or leave it out with --map ${shellWord(`${header}=-`)}`;
  const rest = fields.custom === undefined ? '' : '; --ignore-unknown leaves out all unknown columns';
  return `${meant}, ${leftOut}${rest}.`;
}
