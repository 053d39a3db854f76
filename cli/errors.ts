// Errors that a person can act on, and their exit codes.

export const EXIT = {
  ...{ done: 0, failed: 1, usage: 2, rejectedRows: 3, auth: 4 },
  ...{ interrupted: 130, terminated: 143 },
} as const;

export interface CliErrorOptions {
  /** 1 (failed) by default. */
  exitCode?: number;
  /** What to do next: one sentence or command each. */
  nextSteps: readonly string[];
  /** The server's ID of the failed request. */
  requestId?: string;
  /** HTTP status of the response, if the server refused the request. */
  status?: number;
  /** The service's code of the error, such as VALIDATION_OUT_OF_RANGE. */
  apiCode?: string;
  cause?: unknown;
}

/** An expected failure: its message is for people, and it carries the exit code. */
export class CliError extends Error {
  readonly exitCode: number;
  readonly nextSteps: readonly string[];
  readonly requestId: string | undefined;
  readonly status: number | undefined;
  readonly apiCode: string | undefined;

  constructor(message: string, options: CliErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'CliError';
    this.exitCode = options.exitCode ?? EXIT.failed;
    this.nextSteps = options.nextSteps;
    this.requestId = options.requestId;
    this.status = options.status;
    this.apiCode = options.apiCode;
  }
}

/** Whether the server responded with a status from 400 to 499, or with the given one. */
export function isRefusal(error: unknown, status?: number): boolean {
  if (!(error instanceof CliError) || error.status === undefined) return false;
  return status === undefined ? error.status >= 400 && error.status < 500 : error.status === status;
}

/** An error in the command line: exit code 2. */
export function usageError(message: string, ...nextSteps: string[]): CliError {
  return new CliError(message, { exitCode: EXIT.usage, nextSteps });
}

/** The `code` that system calls and libraries put on their errors, or ''. */
export function errorCode(error: unknown): string {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === 'string' ? code : '';
}

const SYSTEM_FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  ENOTDIR: 'part of the path is a file, not a folder',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota of this user is used up',
  EMFILE: 'too many open files',
  ELOOP: 'it is a symbolic link',
  EMLINK: 'it has another hard link',
  ENXIO: 'it is not a file',
  ENAMETOOLONG: 'its name is too long',
  EIO: 'the disk failed',
};

/** Why the system refused a file or folder, in words that follow a colon; else the system's own message. */
export function systemFault(error: unknown, words: Readonly<Record<string, string>> = {}): string {
  const code = errorCode(error);
  return words[code] ?? SYSTEM_FAULTS[code] ?? (code || messageOf(error));
}

/** The message of an error, of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The same error with one more next step; errors other than CliError are returned unchanged. */
export function withStep(error: unknown, step: string): unknown {
  return withSteps(error, (steps) => (steps.includes(step) ? steps : [...steps, step]));
}

/** The same error with changed next steps; errors other than CliError are returned unchanged. */
export function withSteps(error: unknown, change: (steps: readonly string[]) => readonly string[]): unknown {
  if (!(error instanceof CliError)) return error;
  const nextSteps = change(error.nextSteps);
  if (nextSteps === error.nextSteps) return error;
  const { message, exitCode, requestId, status, apiCode } = error;
  return new CliError(message, {
    exitCode,
    nextSteps: [...nextSteps],
    cause: error,
    ...(requestId !== undefined && { requestId }),
    ...(status !== undefined && { status }),
    ...(apiCode !== undefined && { apiCode }),
  });
}

/** A next step with a capital, unless it is a command. */
export function capitalizedStep(step: string): string {
  return step.replace(/^(?!crm )./, (first) => first.toUpperCase());
}

/** The text of an error for stderr: message, request ID and next steps. */
export function describeError(error: unknown): string {
  if (!(error instanceof CliError)) {
    return `crm: unexpected error: ${messageOf(error)}\nNext: Report this with the command you ran. Add --debug to see where it failed.`;
  }
  const lines = [`crm: ${error.message}`];
  if (error.requestId !== undefined) lines.push(`Request ID: ${error.requestId}`);
  const steps = error.nextSteps.map(capitalizedStep);
  if (steps.length > 0) lines.push(`Next: ${steps.join('\n      ')}`);
  return lines.join('\n');
}
