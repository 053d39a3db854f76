// Errors that a person can act on, and the exit codes they end in.

export const EXIT = { done: 0, failed: 1, usage: 2, rejectedRows: 3, auth: 4, interrupted: 130 } as const;

export interface CliErrorOptions {
  /** 1 (failed) unless said. */
  exitCode?: number;
  /** What to do next, one sentence or command each. */
  nextSteps?: string[];
  /** The server's id of the request that failed. */
  requestId?: string;
  /** HTTP status of the response, where the server refused. */
  status?: number;
  cause?: unknown;
}

/** An expected failure: its message is for people, and main turns it into the exit code. */
export class CliError extends Error {
  readonly exitCode: number;
  readonly nextSteps: readonly string[];
  readonly requestId: string | undefined;
  readonly status: number | undefined;

  constructor(message: string, options: CliErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'CliError';
    this.exitCode = options.exitCode ?? EXIT.failed;
    this.nextSteps = options.nextSteps ?? [];
    this.requestId = options.requestId;
    this.status = options.status;
  }
}

/** Whether the server answered with a status from 400 to 499, or with that one. */
export function isRefusal(error: unknown, status?: number): boolean {
  if (!(error instanceof CliError) || error.status === undefined) return false;
  return status === undefined ? error.status >= 400 && error.status < 500 : error.status === status;
}

/** An error in how the command was written: exit 2. */
export function usageError(message: string, ...nextSteps: string[]): CliError {
  return new CliError(message, { exitCode: EXIT.usage, nextSteps });
}

/** The `code` that system calls and libraries put on their errors, or ''. */
export function errorCode(error: unknown): string {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === 'string' ? code : '';
}

const SYSTEM_FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'a part of its path is a file, not a folder',
  EISDIR: 'it is a folder',
  EACCES: 'this user may not',
  EPERM: 'this user may not',
  EROFS: 'its file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of this user is used up',
  EMFILE: 'too many files are open',
  ELOOP: 'it is a link',
  EMLINK: 'it has a second name elsewhere',
  ENXIO: 'it is not a file',
  ENAMETOOLONG: 'its name is too long',
  EIO: 'the disk failed',
};

/** Why the system refused a file or folder, in words that follow a colon; what it says itself where there are none. */
export function systemFault(error: unknown, words: Readonly<Record<string, string>> = {}): string {
  const code = errorCode(error);
  return words[code] ?? SYSTEM_FAULTS[code] ?? (code || messageOf(error));
}

/** What an error says, whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The same error with one more thing to do next; what is no CliError stays as it is. */
export function withStep(error: unknown, step: string): unknown {
  return withSteps(error, (steps) => (steps.includes(step) ? steps : [...steps, step]));
}

/** The same error with other things to do next; what is no CliError stays as it is. */
export function withSteps(error: unknown, change: (steps: readonly string[]) => readonly string[]): unknown {
  if (!(error instanceof CliError)) return error;
  const nextSteps = change(error.nextSteps);
  if (nextSteps === error.nextSteps) return error;
  const { message, exitCode, requestId, status } = error;
  return new CliError(message, {
    exitCode,
    nextSteps: [...nextSteps],
    cause: error,
    ...(requestId !== undefined && { requestId }),
    ...(status !== undefined && { status }),
  });
}

/** What stderr says of an error: message, request id, and the next step to take. */
export function describeError(error: unknown): string {
  if (!(error instanceof CliError)) {
    return `crm: unexpected error: ${messageOf(error)}\nNext: Report this, with the command you ran; --debug tells where it failed.`;
  }
  const lines = [`crm: ${error.message}`];
  if (error.requestId !== undefined) lines.push(`Request id: ${error.requestId}`);
  const steps = error.nextSteps.map((step) => step.replace(/^(?!crm )./, (first) => first.toUpperCase()));
  if (steps.length > 0) lines.push(`Next: ${steps.join('\n      ')}`);
  return lines.join('\n');
}
