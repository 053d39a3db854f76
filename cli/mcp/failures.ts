// Errors in the words of the service, with what an assistant can do about them.

import { ConnectionError } from '../api/connection-error.ts';
import type { ApiResponse, ErrorDetail } from '../api/envelope.ts';
import { isQuotaRefusal, MAKE_ROOM } from '../api/response-error.ts';
import { CliError, messageOf } from '../errors.ts';
import { redact } from '../terminal/redact.ts';
import { jsonLine, oneLine } from './lines.ts';

interface FailureOptions {
  details?: readonly ErrorDetail[];
  /** What to do: a sentence each. */
  steps?: readonly string[];
  requestId?: string | null;
}

/** An error that the assistant is told, with the service's code. */
export class ToolError extends Error {
  readonly code: string;
  readonly details: readonly ErrorDetail[];
  readonly steps: readonly string[];
  readonly requestId: string | null;

  constructor(
    code: string,
    message: string,
    { details = [], steps = [], requestId = null }: FailureOptions = {},
  ) {
    super(message);
    this.name = 'ToolError';
    this.code = code;
    this.details = details;
    this.steps = steps;
    this.requestId = requestId;
  }
}

/** The error of a response that refuses a request; undefined for any other response. */
export function refusalIn({ status, headers, body, path }: ApiResponse): ToolError | undefined {
  if (body.object !== 'error') return undefined;
  const { code, message, details } = body.error;
  const steps = stepsFor({ code, message, details, status, path, retryAfter: headers.get('retry-after') });
  return new ToolError(code, message, {
    details: details ?? [],
    steps,
    requestId: headers.get('x-request-id'),
  });
}

/** The error of one item of a batch. */
export function itemError(
  error: { code: string; message: string; details?: ErrorDetail[] | null },
  path: string,
): ToolError {
  const { code, message } = error;
  const details = error.details ?? [];
  return new ToolError(code, message, { details, steps: stepsFor({ code, message, details, path }) });
}

interface Refusal {
  code: string;
  message: string;
  details: readonly ErrorDetail[] | null;
  path: string;
  status?: number;
  retryAfter?: string | null;
}

const ASK_PERSON = 'Do not try again; tell the person who runs crm mcp.';

function stepsFor(refusal: Refusal): string[] {
  const { code, status, path, retryAfter } = refusal;
  const details = refusal.details ?? [];
  const resource = /^\/api\/v2\/([a-z]+)/.exec(path)?.[1] ?? '';
  if (code === 'AUTH_INSUFFICIENT_SCOPE')
    return ['The API key of crm mcp lacks this scope: do without it, or tell the person who runs crm mcp.'];
  if (status === 401) return [`The API key of crm mcp is not accepted. ${ASK_PERSON}`];
  if (status === 405 || (status === 404 && resource === 'search'))
    return ['The server is older than crm mcp: upgrade it.'];
  if (isQuotaRefusal(refusal)) return [`${ASK_PERSON} They can ${MAKE_ROOM}`];
  if (code === 'OPERATION_FORBIDDEN') return [`The API key of crm mcp may not do this. ${ASK_PERSON}`];
  if (code === 'RATE_LIMIT_EXCEEDED') return [`Call again in ${retryAfter ?? 60} seconds.`];
  if (code === 'RESOURCE_NOT_FOUND')
    return ['Find the ID with search or query. A key sees only what it may see.'];
  const existing = details.find(({ existing_id }) => existing_id !== undefined)?.existing_id;
  if (existing !== undefined)
    return [`${call('get', { resource, id: existing })} shows the record that has it.`];
  if (code.startsWith('VALIDATION_')) return [`Correct the arguments. ${helpFor(resource)}`];
  return [];
}

function helpFor(resource: string): string {
  if (['search', 'links', ''].includes(resource)) return 'describe {} says what there is.';
  return `${call('describe', { resource })} lists fields, filters, includes and links.`;
}

/** A call as text, for the next step. */
export function call(tool: string, given: object): string {
  return `${tool} ${jsonLine(given)}`;
}

/** The error of a write that may have been carried out although it failed; any other error unchanged. */
export function uncertain(error: unknown): unknown {
  if (!(error instanceof CliError)) return error;
  if (error instanceof ConnectionError && !error.mayHaveArrived)
    return withAdvice(error, 'Nothing was written: call again later.');
  return withAdvice(error, 'It may have been carried out: check that before you call again.');
}

/** The same error with one more step. */
export function withAdvice(error: unknown, step: string): unknown {
  const known = error instanceof CliError ? toolErrorOf(error) : error;
  if (!(known instanceof ToolError)) return error;
  const { code, message, details, steps, requestId } = known;
  return new ToolError(code, message, { details, requestId, steps: [...steps, step] });
}

function toolErrorOf(error: CliError): ToolError {
  const { message, apiCode = 'INTERNAL_ERROR', requestId = null } = error;
  return new ToolError(apiCode, message, { requestId, steps: stepsAfter(error) });
}

// After a response the steps are commands, which an assistant cannot run; without one they say what a person can do.
function stepsAfter(error: CliError): readonly string[] {
  if (error instanceof ConnectionError) return ['Tell the person who runs crm mcp.'];
  return error.status === undefined ? error.nextSteps : ['Try again later.'];
}

const LINE_CHARACTERS_MAX = 2_000;

/** What the assistant reads of an error that a call threw; messages can quote records, and stay on their lines. */
export function failureText(error: unknown): string {
  return linesOf(error)
    .map((line) => (line.length > LINE_CHARACTERS_MAX ? `${line.slice(0, LINE_CHARACTERS_MAX)}…` : line))
    .map((line) => oneLine(line.toWellFormed()))
    .join('\n');
}

function linesOf(error: unknown): string[] {
  if (error instanceof ToolError) {
    const { code, message, details, steps, requestId } = error;
    const faults = details
      .map((detail) => (detail.path ? `${detail.path}: ${detail.message}` : detail.message))
      .filter((fault) => fault !== message);
    return [
      `${code}: ${message}`,
      ...faults,
      ...steps.map((step) => `Next: ${step}`),
      ...(requestId === null ? [] : [`Request ID: ${requestId}`]),
    ];
  }
  if (error instanceof CliError) return linesOf(toolErrorOf(error));
  return [`INTERNAL_ERROR: crm mcp failed: ${redact(messageOf(error))}`];
}
