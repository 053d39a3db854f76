// All that keeps an input from being imported as it is, told at once, with the command that would import it.
import type { Resource } from '../../../db/declare/resource.ts';
import { type CliError, usageError } from '../../errors.ts';
import { shellWord } from '../../terminal/text.ts';
import { type ImportFlags, importCommand } from '../flags.ts';
import type { ImportRequest } from '../request.ts';

export interface Problem {
  message: string;
  /** The flags that would settle it. */
  changes: Partial<ImportFlags>;
  /** What else might be meant. */
  orElse?: string;
  /** The columns it is about. */
  headers?: readonly string[];
}

/** The usage error that names every problem. */
export function refusal(
  problems: readonly Problem[],
  resource: Resource,
  request: ImportRequest,
  fields: string,
): CliError {
  const changes: Partial<ImportFlags> = Object.assign({}, ...problems.map((problem) => problem.changes));
  const [header = 'Header'] = problems.flatMap(({ headers = [] }) => headers);
  const hasCustom = resource.fields.custom !== undefined;
  const others = problems.flatMap(({ orElse }) => (orElse === undefined ? [] : [orElse]));
  return usageError(
    problems.map(({ message }) => message).join('\n'),
    importCommand({ ...request, ...changes }),
    ...others,
    `or say what a column means, with --map ${shellWord(`${header}=FIELD`)}, or leave it out, with --map ${shellWord(`${header}=-`)}${hasCustom ? '; --ignore-unknown leaves out all that are not known' : ''}.`,
    'a file of all columns to start from, which --map-file takes, is printed with --suggest-map.',
    `the fields of ${resource.name}: ${fields}.`,
  );
}
