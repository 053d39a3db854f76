// Reads environment variables for settings.
import { usageError } from '../errors.ts';
import { OUTPUT_FORMATS, type OutputFormat } from '../terminal/output.ts';

/** An environment variable; an empty one counts as unset. */
export function environment(name: string): string | undefined {
  return process.env[name] || undefined;
}

/** The output format with this name, undefined for undefined; throws a usage error for other values. */
export function formatFrom(source: string, value: string | undefined): OutputFormat | undefined {
  const format = OUTPUT_FORMATS.find((one) => one === value);
  if (value !== undefined && format === undefined) {
    throw usageError(
      `${source} is "${value}", which is not an output format.`,
      `use one of ${OUTPUT_FORMATS.join(', ')}.`,
    );
  }
  return format;
}
