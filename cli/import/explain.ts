// Adds to an error what an import knows about going on.
import { CliError } from '../errors.ts';

/** The same error with one more thing to do next; what is no CliError stays as it is. */
export function withStep(error: unknown, step: string): unknown {
  if (!(error instanceof CliError) || error.nextSteps.includes(step)) return error;
  const { message, exitCode, requestId, status } = error;
  return new CliError(message, {
    exitCode,
    nextSteps: [...error.nextSteps, step],
    cause: error,
    ...(requestId !== undefined && { requestId }),
    ...(status !== undefined && { status }),
  });
}
