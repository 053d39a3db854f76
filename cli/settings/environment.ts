// Variables of the environment, as settings read them.
import { usageError } from '../errors.ts';
import { OUTPUT_FORMATS, type OutputFormat } from '../terminal/output.ts';

/** A variable of the environment; an empty one counts as unset. */
export function environment(name: string): string | undefined {
  return process.env[name] || undefined;
}

/** The format of that name, undefined for none; a usage error names the source of another. */
export function formatFrom(source: string, value: string | undefined): OutputFormat | undefined {
  const format = OUTPUT_FORMATS.find((one) => one === value);
  if (value !== undefined && format === undefined) {
    throw usageError(`${source} is "${value}".`, `make it one of ${OUTPUT_FORMATS.join(', ')}.`);
  }
  return format;
}
