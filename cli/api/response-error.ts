// Turns a failed response into an error with the server's message and a next step.

import { SEARCHED_RESOURCES } from '../../db/model/searched.ts';
import { clip } from '../../db/model/text.ts';
import { CliError, EXIT, isRefusal } from '../errors.ts';
import { isOurId } from '../input/record-id.ts';
import { shellWord } from '../terminal/text.ts';
import type { Envelope, ErrorDetail } from './envelope.ts';
import { commandForIds } from './ids.ts';

// Of its HTTP layer, or of a proxy in front of it: without an envelope.
const TOO_LONG_STATUSES = [414, 431];

/** Whether a request was refused for the length of its URL or its headers. */
export function isTooLong(error: unknown): boolean {
  return TOO_LONG_STATUSES.some((status) => isRefusal(error, status));
}

export interface FailedResponse {
  method: string;
  path: string;
  status: number;
  headers: Headers;
  /** Undefined if the body is not an envelope. */
  body: Envelope | undefined;
}

interface Refusal {
  code: string;
  message: string;
  details?: readonly ErrorDetail[] | null;
}

/** Whether the response says that the key is not valid, without saying why. */
export function isRefusedKey(body: Envelope | undefined): boolean {
  if (body?.object !== 'error') return false;
  return body.error.code === 'AUTH_INVALID_API_KEY' && !isRotated(body.error);
}

function isRotated(error: Refusal): boolean {
  return isAbout(error, 'key.secret');
}

// What a client is told that has the details elsewhere; here they follow.
const SEE_DETAILS = /; see details\.$/;

// Causes that share a code differ in the paths of the details.
function isAbout({ details }: Refusal, start: string): boolean {
  return details?.some(({ path }) => path?.startsWith(start)) === true;
}

/**
 * The CliError for a response that failed: message, details, request ID, exit code and next step.
 * @param known a better explanation than the server's, which must suit all clients
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
  const where = `(${status} ${code}, ${method} ${path})`;
  const faults = (known === undefined ? (details ?? []) : []).map((detail) =>
    detail.path ? `${detail.path}: ${detail.message}` : detail.message,
  );
  // A single fault often repeats the message.
  const listed = faults.filter((fault) => fault !== message).map((fault) => `  ${fault}`);
  const heading =
    SEE_DETAILS.test(message) && listed.length > 0
      ? `${message.replace(SEE_DETAILS, '')} ${where}:`
      : `${message} ${where}`;
  return new CliError([heading, ...listed].join('\n'), {
    exitCode: status === 401 || status === 403 ? EXIT.auth : EXIT.failed,
    nextSteps: known?.nextSteps ?? [stepFor(envelope.error) ?? nextStep(response, envelope.error)],
    requestId: headers.get('x-request-id') ?? envelope.meta?.request_id,
    status,
    apiCode: code,
  });
}

function strangerError({ method, path, status, headers }: FailedResponse): CliError {
  const location = headers.get('location');
  if (TOO_LONG_STATUSES.includes(status)) {
    return new CliError(
      `The request ${method} ${clip(path)} is too long for the server (status ${status}).`,
      {
        nextSteps: ['use fewer or shorter values, then run the command again.'],
        status,
      },
    );
  }
  const text =
    status >= 300 && status < 400 && location !== null
      ? `The server redirects ${method} ${path} to ${location}.`
      : `The response to ${method} ${path} (status ${status}) is not from a crm server.`;
  const requestId = headers.get('x-request-id');
  return new CliError(text, {
    exitCode: status === 401 || status === 403 ? EXIT.auth : EXIT.failed,
    nextSteps: ['check the server URL in --url or CRM_URL: it is the part before /api.'],
    ...(requestId !== null && { requestId }),
    status,
  });
}

const NEW_SECRET =
  'use the key that "crm keys rotate" printed; crm cannot show it again, but can rotate it again.';
const OTHER_ADDRESS = 'use a key that allows this client IP, or allow it: crm keys update ID --allow-ip CIDR';

/** The next step if the quota of the organization is used up. */
export const MAKE_ROOM =
  'delete what you do not need, or ask the operator to raise the quota. To show it: crm orgs quota ORG';

/** Whether a write was refused because of a quota; only late faults of a large batch come without details. */
export function isQuotaRefusal(error: Refusal): boolean {
  const { code, message, details } = error;
  if (details) return isAbout(error, 'quota.');
  return code === 'OPERATION_FORBIDDEN' && /\bthat its quota allows\b/.test(message);
}

/** The next step if the server keeps no changes, and so has no history, undelete and webhooks. */
export const TURN_ON_CHANGES = 'have the operator turn it on: crm serve --changes-days 30';

/** The next step if the server has not read all records for a search or a timeline yet. */
const BEING_BUILT =
  'run the command again in a few minutes. "crm doctor" shows the operator how many records are left.';

// A 403 can also come from a quota or from the networks of the key, a 401 from an old secret.
function stepFor(error: Refusal): string | undefined {
  if (isQuotaRefusal(error)) return MAKE_ROOM;
  if (isRotated(error)) return NEW_SECRET;
  if (/\bkeeps no changes\b/.test(error.message)) return TURN_ON_CHANGES;
  if (/\bstill being built\b/.test(error.message)) return BEING_BUILT;
  return isAbout(error, 'key.networks') ? OTHER_ADDRESS : undefined;
}

function nextStep({ status, path, headers }: FailedResponse, { code, message }: Refusal): string {
  const isUnknownPath = message.startsWith('Unknown endpoint');
  const location = headers.get('location');
  if (code === 'AUTH_EXPIRED_API_KEY') return 'issue a new key with "crm keys issue", or rotate this one.';
  if (code === 'AUTH_INSUFFICIENT_SCOPE') {
    return 'use a key with this scope. To see the scopes of keys, run "crm keys list".';
  }
  if (code === 'OPERATION_FORBIDDEN' && status === 403) {
    return 'use a key with access to the whole organization, or keep the owner of the record.';
  }
  if (status === 401) {
    return 'check CRM_API_KEY or --api-key-file; v1 and v2 keys are not interchangeable. To issue a new key, run "crm keys issue".';
  }
  if (status === 404) return isUnknownPath ? 'to list all paths, run: crm openapi' : stepToFind(path);
  if (status === 409 && location !== null) return `see the existing record: ${commandToShow(location)}`;
  if (status === 409) return 'resolve the conflict, then run the command again.';
  if (status === 413) return 'send less data at once.';
  if (status >= 400 && status < 500) return 'correct the values listed above, then run the command again.';
  return 'run the command again; if it keeps failing, look for the request ID in the server log.';
}

// If it is not an ID, it is probably a name or an email.
function stepToFind(path: string): string {
  const [, resource, id = ''] = /^\/api\/v2\/([a-z]+)\/([^/]+)/.exec(path) ?? [];
  if (resource === undefined || isOurId(id))
    return 'check the ID. A key can only see records of its organization.';
  const text = decodeURIComponent(id);
  const isSearched = SEARCHED_RESOURCES.some((one) => one === resource);
  const step = isSearched
    ? `To find it: crm search ${shellWord(text)} --types ${resource}`
    : `To list IDs: ${commandForIds(resource)}`;
  return `use an ID instead of "${text}". ${step}`;
}

// The command that shows a v2 record, from its URL; the URL itself if it is something else.
function commandToShow(location: string): string {
  const [, resource, id] = /\/api\/v2\/([a-z]+)\/([^/?#]+)$/.exec(location) ?? [];
  return resource === undefined ? location : `crm get ${resource} ${id}`;
}
