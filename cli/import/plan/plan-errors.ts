// All that keeps an input from being imported as it is, told at once, with the command that would import it.
import type { Resource } from '../../../db/model/resource.ts';
import { type CliError, usageError } from '../../errors.ts';
import { shellWord } from '../../terminal/text.ts';
import { importCommand } from '../flags.ts';
import type { ImportRequest } from '../request.ts';
import type { SuggestedFlags } from '../suggested-flags.ts';

export interface Problem {
  message: string;
  /** The flags that would settle it; none where the input itself has to be another. */
  changes: SuggestedFlags;
  /** What else might be meant. */
  orElse?: string;
  /** The columns it is about. */
  headers?: readonly string[];
}

/** The usage error that names every problem; `advised` is the request that has none, or null where flags alone will not do. */
export function planError(
  problems: readonly Problem[],
  { resource, advised, fields }: { resource: Resource; advised: ImportRequest | null; fields: string },
): CliError {
  const [header] = problems.flatMap(({ headers = [] }) => headers);
  const others = problems.flatMap(({ orElse }) => (orElse === undefined ? [] : [orElse]));
  return usageError(
    problems.map(({ message }) => message).join('\n'),
    ...(advised === null ? [] : [importCommand(advised)]),
    ...others,
    ...(header === undefined ? [] : [otherMeanings(header, resource)]),
    'a file of all columns to start from, which --map-file takes, is printed with --suggest-map.',
    `the fields of ${resource.name}: ${fields}.`,
  );
}

function otherMeanings(header: string, { fields }: Resource): string {
  const meant = `or say what a column means, with --map ${shellWord(`${header}=FIELD`)}`;
  const leftOut = `or leave it out, with --map ${shellWord(`${header}=-`)}`;
  const rest = fields.custom === undefined ? '' : '; --ignore-unknown leaves out all that are not known';
  return `${meant}, ${leftOut}${rest}.`;
}
