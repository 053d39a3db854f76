// Every way a request can fail: one table from kind to public code and status, and one error type to throw.
import { Type } from 'typebox';
import { firstFaults, type ValidationCode } from '../db/model/faults.ts';

/** Public errors: the specified codes, and four kinds that share a code but have another status. */
const ERRORS = {
  AUTH_MISSING_CREDENTIALS: { status: 401, code: 'AUTH_MISSING_CREDENTIALS' },
  AUTH_INVALID_API_KEY: { status: 401, code: 'AUTH_INVALID_API_KEY' },
  AUTH_EXPIRED_API_KEY: { status: 401, code: 'AUTH_EXPIRED_API_KEY' },
  AUTH_INSUFFICIENT_SCOPE: { status: 403, code: 'AUTH_INSUFFICIENT_SCOPE' },
  VALIDATION_FAILED: { status: 422, code: 'VALIDATION_FAILED' },
  VALIDATION_REQUIRED_FIELD: { status: 422, code: 'VALIDATION_REQUIRED_FIELD' },
  VALIDATION_INVALID_FORMAT: { status: 422, code: 'VALIDATION_INVALID_FORMAT' },
  VALIDATION_OUT_OF_RANGE: { status: 422, code: 'VALIDATION_OUT_OF_RANGE' },
  RESOURCE_NOT_FOUND: { status: 404, code: 'RESOURCE_NOT_FOUND' },
  RESOURCE_CONFLICT: { status: 409, code: 'RESOURCE_CONFLICT' },
  OPERATION_FORBIDDEN: { status: 403, code: 'OPERATION_FORBIDDEN' },
  RATE_LIMIT_EXCEEDED: { status: 429, code: 'RATE_LIMIT_EXCEEDED' },
  INTERNAL_ERROR: { status: 500, code: 'INTERNAL_ERROR' },
  DATABASE_UNAVAILABLE: { status: 503, code: 'INTERNAL_ERROR' },
  METHOD_NOT_ALLOWED: { status: 405, code: 'OPERATION_FORBIDDEN' },
  BODY_TOO_SLOW: { status: 408, code: 'VALIDATION_OUT_OF_RANGE' },
  BODY_TOO_LARGE: { status: 413, code: 'VALIDATION_OUT_OF_RANGE' },
} as const satisfies Record<string, { status: number; code: string }>;

export type ErrorKind = keyof typeof ERRORS;
export type ErrorCode = (typeof ERRORS)[ErrorKind]['code'];

/** Schema of a public error code. */
export const errorCodeSchema = Type.Enum([...new Set(Object.values(ERRORS).map(({ code }) => code))], {
  $id: 'ErrorCode',
  description: 'Identifies the kind of error.',
});

/** Schema of an entry in the details of an error. */
export const errorDetailSchema = Type.Object(
  {
    path: Type.String({
      description:
        'The field with the error, dotted, such as alt_emails.0; empty for the request as a whole.',
    }),
    message: Type.String({ description: 'What is wrong or what is allowed.' }),
    code: errorCodeSchema,
    existing_id: Type.Optional(
      Type.String({
        description: 'For a conflict: the ID of the conflicting record, if the key can read it.',
      }),
    ),
  },
  { $id: 'ErrorDetail', additionalProperties: false },
);

/** One error in the content of a request: where it is, what is allowed there, and its code. */
export type Detail = {
  path: string;
  message: string;
  code: ErrorCode;
  /** For a conflict: the ID of the conflicting record, if the key can read it. */
  existing_id?: string;
};

/** The limits that can reject a valid request: rate limits, bytes in flight, requests held open, and quotas. */
export const LIMIT_NAMES = [
  'key',
  'organization',
  'wrong_keys',
  'downloads',
  'bodies',
  'answers',
  'stored_answers',
  'held_requests',
  'quota_records',
  'quota_bytes',
] as const;
export type LimitName = (typeof LIMIT_NAMES)[number];

export interface ApiErrorOptions {
  details?: Detail[] | null;
  headers?: Record<string, string>;
  /** Path, from the root, of the record for the Location header. */
  location?: string | null;
  /** The limit that rejected the request, for the metrics. */
  limit?: LimitName | null;
  /** The internal cause, for the log only. */
  cause?: unknown;
}

/** A failure with a public message; every other error becomes an INTERNAL_ERROR. */
export class ApiError extends Error {
  readonly kind: ErrorKind;
  readonly details: Detail[] | null;
  readonly headers: Record<string, string>;
  readonly location: string | null;
  readonly limit: LimitName | null;

  constructor(kind: ErrorKind, message: string, options: ApiErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'ApiError';
    this.kind = kind;
    this.details = options.details ?? null;
    this.headers = options.headers ?? {};
    this.location = options.location ?? null;
    this.limit = options.limit ?? null;
  }

  /** HTTP status. */
  get status(): number {
    return ERRORS[this.kind].status;
  }

  /** Public error code. */
  get code(): ErrorCode {
    return ERRORS[this.kind].code;
  }
}

/** The error for a list of faults: one fault gives its own code, several give VALIDATION_FAILED. */
export function validationError(details: Detail[]): ApiError {
  const [first] = details;
  if (first === undefined) return new ApiError('VALIDATION_FAILED', 'The request is not valid.');
  if (details.length > 1) {
    return new ApiError('VALIDATION_FAILED', `The request has ${details.length} errors; see details.`, {
      details: firstFaults(details),
    });
  }
  const where = first.path === '' ? '' : `${first.path}: `;
  return new ApiError(first.code, where + first.message, { details });
}

/** The 422 for one fault. */
export function invalid(path: string, message: string, code: ValidationCode = 'VALIDATION_FAILED'): ApiError {
  return validationError([{ path, message, code }]);
}

/** The 403 for a scope that the key does not have. */
export function insufficientScope(scope: string): ApiError {
  const message = `This request needs the scope ${scope}, which the API key does not have.`;
  return new ApiError('AUTH_INSUFFICIENT_SCOPE', message);
}

/** The 404 for a record that does not exist or that the key cannot see: the message is the same. */
export function notFound(singular: string): ApiError {
  return new ApiError('RESOURCE_NOT_FOUND', `Your organization has no ${singular} with this ID.`);
}
