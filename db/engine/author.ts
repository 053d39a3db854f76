// Who writes records.

/** Who makes the changes of a job. */
export interface Author {
  /** The number of the key; 0 for operators. */
  readonly keyNumber: number;
  /** The bytes behind `req_` in the ID of the request; null for operators. */
  readonly request: Uint8Array | null;
  /** Whether the log contains what records were; false while a person is erased. */
  readonly keepsValues: boolean;
}

/** The operator, by a command. */
export const OPERATOR: Author = { keyNumber: 0, request: null, keepsValues: true };
/** The operator who erases a person: the log must not repeat what is erased. */
export const ERASURE: Author = { ...OPERATOR, keepsValues: false };

const REQUEST_PREFIX = 'req_';

/** A key that has sent a request. */
export function keyAuthor(keyNumber: number, requestId: string): Author {
  return { keyNumber, request: requestBytes(requestId), keepsValues: true };
}

/** The ID of a request as an author has it; no request has an ID without that prefix. */
export function requestBytes(requestId: string): Uint8Array {
  const text = requestId.startsWith(REQUEST_PREFIX) ? requestId.slice(REQUEST_PREFIX.length) : '';
  return Buffer.from(text, 'base64url');
}

/** The ID of a request from its bytes. */
export function requestIdOf(request: Uint8Array): string {
  return REQUEST_PREFIX + Buffer.from(request).toString('base64url');
}
