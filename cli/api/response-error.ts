// Turns a failing response into the error that stderr shows, with the server's own words and a next step.

import { CliError, EXIT } from '../errors.ts';
import { isOurId } from '../input/record-id.ts';
import type { Envelope, ErrorDetail } from './envelope.ts';
import { commandForIds } from './ids.ts';

export interface FailedResponse {
  method: string;
  path: string;
  status: number;
  headers: Headers;
  /** Undefined where the body is no envelope. */
  body: Envelope | undefined;
}

interface Refusal {
  code: string;
  message: string;
  details?: readonly ErrorDetail[] | null;
}

/** Whether the answer says that the key is not one that it takes. */
export function isRefusedKey(body: Envelope | undefined): boolean {
  return body?.object === 'error' && body.error.code === 'AUTH_INVALID_API_KEY';
}

/**
 * The CliError for a response that failed: message, details, request id, exit code and next step.
 * @param known what is known here of the fault, in place of the words of the server, which is asked by other clients too
 */
export function responseError(
  response: FailedResponse,
  known?: { message: string; nextSteps: string[] },
): CliError {
  const { method, path, status, headers, body } = response;
  const envelope = body?.object === 'error' ? body : undefined;
  if (envelope === undefined) return strangerError(response);
  const { code, details } = envelope.error;
  const message = known?.message ?? envelope.error.message;
  const lines = [`${message} (${status} ${code}, ${method} ${path})`];
  const faults = (known === undefined ? (details ?? []) : []).map((detail) =>
    detail.path ? `${detail.path}: ${detail.message}` : detail.message,
  );
  // A single fault is often the message itself.
  lines.push(...faults.filter((fault) => fault !== message).map((fault) => `  ${fault}`));
  return new CliError(lines.join('\n'), {
    exitCode: status === 401 || status === 403 ? EXIT.auth : EXIT.failed,
    nextSteps: known?.nextSteps ?? [
      forbiddenStep(envelope.error) ?? nextStep({ status, code, path, location: headers.get('location') }),
    ],
    requestId: headers.get('x-request-id') ?? envelope.meta?.request_id,
    status,
  });
}

function strangerError({ method, path, status, headers }: FailedResponse): CliError {
  const location = headers.get('location');
  const text =
    status >= 300 && status < 400 && location !== null
      ? `The server sends ${method} ${path} on to ${location}.`
      : `The answer to ${method} ${path} (status ${status}) does not come from a crm server.`;
  const requestId = headers.get('x-request-id');
  return new CliError(text, {
    exitCode: status === 401 || status === 403 ? EXIT.auth : EXIT.failed,
    nextSteps: ['check the address in --url or CRM_URL; it is the part before /api.'],
    ...(requestId !== null && { requestId }),
    status,
  });
}

const OTHER_ADDRESS =
  'use a key that may be used from here, or allow this address: crm keys update ID --allow-ip CIDR';

/** What helps where the quota of the organization is used up. */
export const MAKE_ROOM =
  'delete what is not needed, or have the operator raise the quota: crm orgs quota ORG shows it';

/** Whether a write was refused because the organization may hold no more; a batch of many faults lists no details in the end. */
export function isQuotaRefusal({ code, message, details }: Refusal): boolean {
  if (details) return details.some(({ path }) => path?.startsWith('quota.'));
  return code === 'OPERATION_FORBIDDEN' && /\bthat its quota allows\b/.test(message);
}

// Not all that is forbidden is so to the key.
function forbiddenStep(error: Refusal): string | undefined {
  if (isQuotaRefusal(error)) return MAKE_ROOM;
  return /\bAPI key (?:may|cannot) be used from\b/.test(error.message) ? OTHER_ADDRESS : undefined;
}

interface Refused {
  status: number;
  code: string;
  path: string;
  location: string | null;
}

function nextStep({ status, code, path, location }: Refused): string {
  if (code === 'AUTH_EXPIRED_API_KEY') return 'issue a new key with "crm keys issue", or rotate this one.';
  if (code === 'AUTH_INSUFFICIENT_SCOPE') {
    return 'use a key that has the scope; "crm keys list" shows which key has which.';
  }
  if (code === 'OPERATION_FORBIDDEN' && status === 403) {
    return 'use an organization-wide key, or leave the record with its owner.';
  }
  if (status === 401) {
    return 'check CRM_API_KEY or --api-key-file; v1 and v2 keys are not interchangeable. "crm keys issue" makes a new one.';
  }
  if (status === 404) return stepToFind(path);
  if (status === 409 && location !== null) return `look at the existing record: ${commandToShow(location)}`;
  if (status === 409) return 'look at what stands in the way, change it, and try again.';
  if (status === 413) return 'send less at once.';
  if (status >= 400 && status < 500) return 'correct the values named above and run the command again.';
  return 'run the command again; if it keeps failing, look for the request id in the server log.';
}

// What was given for an id that is none was most likely a name or an email address.
function stepToFind(path: string): string {
  const [, resource, id = ''] = /^\/api\/v2\/([a-z]+)\/([^/]+)/.exec(path) ?? [];
  if (resource === undefined || isOurId(id))
    return 'check the id; the key finds only records of its own organization.';
  return `"${decodeURIComponent(id)}" is not an id; ${commandForIds(resource)} shows them.`;
}

// The command that shows a record of v2, from its address; the address itself where it is another's.
function commandToShow(location: string): string {
  const [, resource, id] = /\/api\/v2\/([a-z]+)\/([^/?#]+)$/.exec(location) ?? [];
  return resource === undefined ? location : `crm get ${resource} ${id}`;
}
