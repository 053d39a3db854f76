// Errors as text and back, with everything that a response and the log need.
import { ApiError } from '../errors.ts';

interface Failure {
  message: string;
  /** The system's error code. */
  code?: string;
  /** The cause or the stack, for the log. */
  cause?: string;
  /** What an API error has besides. */
  api?: Pick<ApiError, 'kind' | 'details' | 'headers' | 'location' | 'limit'>;
}

/** An error as text. */
export function encodeError(error: unknown): string {
  return JSON.stringify(failureOf(error));
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { message: String(error) };
  const { message, cause } = error;
  if (error instanceof ApiError) {
    const { kind, details, headers, location, limit } = error;
    const api = { kind, details, headers, location, limit };
    return { message, ...(cause !== undefined && { cause: traceOf(cause) }), api };
  }
  return { message, cause: traceOf(error), ...('code' in error && { code: String(error.code) }) };
}

function traceOf(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}

/** The error from its text. */
export function decodeError(text: string): Error {
  const { message, code, cause, api } = JSON.parse(text) as Failure;
  if (api !== undefined) return new ApiError(api.kind, message, { ...api, cause });
  return Object.assign(new Error(message, { cause }), code !== undefined && { code });
}
