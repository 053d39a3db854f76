// Errors as text and back, with everything that a response and the log need.
import { ApiError, type Detail, type ErrorKind, type LimitName } from '../errors.ts';

interface Failure {
  message: string;
  /** The system's error code. */
  code?: string;
  /** The cause or the stack, for the log. */
  cause?: string;
  api?: {
    kind: ErrorKind;
    details: Detail[] | null;
    headers: Record<string, string>;
    location: string | null;
    limit: LimitName | null;
  };
}

/** An error as text. */
export function encodeError(error: unknown): string {
  return JSON.stringify(failureOf(error));
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { message: String(error) };
  if (error instanceof ApiError) {
    const { message, cause, kind, details, headers, location, limit } = error;
    return {
      message,
      ...(cause !== undefined && { cause: traceOf(cause) }),
      api: { kind, details, headers, location, limit },
    };
  }
  const { message } = error;
  return { message, cause: traceOf(error), ...('code' in error && { code: String(error.code) }) };
}

function traceOf(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}

/** The error from its text. */
export function decodeError(text: string): Error {
  const { message, code, cause, api } = JSON.parse(text) as Failure;
  if (api === undefined) return Object.assign(new Error(message, { cause }), code !== undefined && { code });
  const { kind, details, headers, location, limit } = api;
  return new ApiError(kind, message, {
    ...(details !== null && { details }),
    headers,
    ...(location !== null && { location }),
    ...(limit !== null && { limit }),
    cause,
  });
}
