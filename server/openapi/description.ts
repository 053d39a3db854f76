// What the description says of the interface as a whole: the rules that hold for every operation.
import { ANSWER_BYTES_MAX } from '../../db/engine/stored-response-bytes.ts';
import { V1_SCOPES, V2_SCOPES } from '../../db/model/resources/registry.ts';
import { PAGE_BYTES_MAX } from '../../db/tables/page-size.ts';
import { MIGRATION_TITLE } from '../deprecation.ts';
import { BATCH_BODY_BYTES_MAX, BATCH_ITEMS_MAX, BODY_BYTES_MAX } from '../operation.ts';
import { BODY_PACES } from '../pipeline/body-timeouts.ts';
import { WRONG_CREDENTIALS_PER_MINUTE } from '../pipeline/credential.ts';
import { KEY_LIMIT, ORG_LIMIT } from '../pipeline/rate-limit.ts';
import { IN_FLIGHT_LIMITS } from '../quotas/in-flight-budget.ts';
import { PAGE_ROWS_DEFAULT, PAGE_ROWS_MAX } from '../v2/paging.ts';
import { DOWNLOADS_PER_MINUTE, LINK_LIFETIME_SECONDS } from '../v2/transcript-links.ts';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const SECOND_MS = 1000;

/** The text of the description, in Markdown. */
export function description(): string {
  const sections = [INTRODUCTION, authentication(), ENVELOPES, ERRORS, LISTS, VALUES, WRITES];
  return [...sections, IDEMPOTENCY, LIMITS, REQUESTS, VERSIONS].map((section) => section.trim()).join('\n\n');
}

const INTRODUCTION = `
Records of an organization's customers – contacts, companies, deals and what goes with them – over HTTP and JSON.

**Version 2**, under \`/api/v2\`, is the whole model. **Version 1**, under \`/api/v1\`, is deprecated: it keeps working
as it is, and has no date at which it ends. Both work on the same records: what one writes the other shows.

To try it: create a key with \`crm keys issue\`, and send \`GET /api/v2/contacts\` with it.
`;

function authentication(): string {
  return `
## Authentication

Every request carries one API key, in exactly one of two headers: \`X-Service-Api-Key: <key>\` or
\`Authorization: Bearer <key>\`. Both at once, or one of them twice, is a 401. Keys of version 2 begin with
\`service_live_\`, keys of version 1 with \`service_api_\` or \`service_pk_\`; neither opens the other version.

A key has **scopes**, and an operation names those it needs; without one it is a 403.

- Version 2: ${scopeList(V2_SCOPES)}. There is none for everything. To link and unlink needs the write
  scope of the record that others are linked to; to list them needs the read scopes of both sides (of a note's records
  \`notes:read\` alone).
- Version 1: ${scopeList(V1_SCOPES)}. \`ALL\` opens every endpoint.

A key of version 2 has an **access level**. An organization-wide key sees every record of its organization. A
user-bound key sees and changes only what its user owns (\`owner_id\`; of tasks \`main_assignee_id\`; of notes, segments
and interactions their creator): all else behaves as if it were not there, in paths (404), bodies (422), filters and
lists of linked records (left out). What it creates belongs to its user; giving a record away is a 403. Pipelines
belong to the organization, and such keys only read them.

A key may be limited to **networks**. From any other address it is a 403, whatever is asked, with the address that the
service saw.

Revocation, expiry and rotation of a key hold from the next request on.`;
}

function scopeList(scopes: readonly string[]): string {
  const byResource = Map.groupBy(scopes, (scope) => scope.split(':')[0] ?? scope);
  const texts = [...byResource].map(([resource, all]) => {
    const actions = all.map((scope) => scope.split(':')[1]).filter((action) => action !== undefined);
    return actions.length === 0 ? `\`${resource}\`` : `\`${resource}:${actions.join('|')}\``;
  });
  return texts.join(', ');
}

const ENVELOPES = `
## Envelopes

| \`object\` | For | Shape |
|---|---|---|
| \`success\` | one record | \`{ object, data, meta }\` |
| \`list\` | a page of records | \`{ object, data: [], page_info, meta }\` |
| \`batch\` | many creates at once | \`{ object, data: { items, summary }, meta }\` |
| \`error\` | every 4xx and 5xx | \`{ object, error: { code, message, details }, meta }\` |

\`meta.request_id\` names the exchange and is repeated in the header \`X-Request-Id\`; quote it when you ask for help.
A 204 has no body. Answers are never to be cached (\`Cache-Control: no-store\`). HEAD answers as GET, without a body.
`;

const ERRORS = `
## Errors

| Status | \`error.code\` |
|---|---|
| 401 | \`AUTH_MISSING_CREDENTIALS\`, \`AUTH_INVALID_API_KEY\`, \`AUTH_EXPIRED_API_KEY\` |
| 403 | \`AUTH_INSUFFICIENT_SCOPE\`, \`OPERATION_FORBIDDEN\` |
| 404 | \`RESOURCE_NOT_FOUND\` |
| 405 | \`OPERATION_FORBIDDEN\`, with \`Allow\` |
| 409 | \`RESOURCE_CONFLICT\`; in version 2 with the \`Location\` of the record in the way, where the key may see it |
| 408 | \`VALIDATION_OUT_OF_RANGE\`: the body took too long; the connection is closed |
| 413 | \`VALIDATION_OUT_OF_RANGE\` |
| 422 | \`VALIDATION_REQUIRED_FIELD\`, \`VALIDATION_INVALID_FORMAT\`, \`VALIDATION_OUT_OF_RANGE\`, \`VALIDATION_FAILED\` |
| 429 | \`RATE_LIMIT_EXCEEDED\`, with \`Retry-After\` |
| 500 | \`INTERNAL_ERROR\` |
| 503 | \`INTERNAL_ERROR\` with \`Retry-After\`: the database cannot be reached or written just now |

Tell errors apart by \`code\`; \`message\` is for people. A 422 lists every fault in \`details\`, each with \`path\`
(dotted, as in \`alt_emails.0\`), \`message\` and \`code\`. One fault gives the error its own code, several give
\`VALIDATION_FAILED\`.

Checks come in this order: route (404, 405), key (401), scope (403), size of the body (413), idempotent replay, rate
limit (429), validity (422), existence and execution. An id in a path that names nothing, whatever its form, is a 404;
an id in a body that names nothing is a 422.
`;

const LISTS = `
## Lists

Lists come in pages, and pagination is by cursor: send \`page_info.end_cursor\` as \`cursor\`, with the same order and filters, until
\`has_next_page\` is false. A cursor is opaque and good for its own list only; elsewhere, or altered, it is a 422. No
record is skipped or repeated while others are created or deleted. A page of large records ends early, with the record
that takes it past ${PAGE_BYTES_MAX / MIB} MiB, and \`has_next_page\` is true: go by that, not by how many there are.

In version 2 \`limit\` is 1 to ${PAGE_ROWS_MAX} (${PAGE_ROWS_DEFAULT} unless given), and the order is newest first, by
\`created_at\`, unless \`sort_by\` and \`sort_direction\` say otherwise; ties go by id. Filters can be combined, and all
must hold. An id in a filter that names nothing finds nothing. A parameter that is unknown, repeated, empty or not of
its type is a 422, and so is any parameter on an operation that is not a list. Linked records come newest link first.
`;

const VALUES = `
## Values

- Ids are opaque strings (UUIDv7).
- Version 2 answers carry every field, \`null\` where it is unset (\`[]\` and \`{}\` for lists and \`custom\`); version 1
  leaves out what is unset.
- Instants that the service sets (\`…_at\`) are RFC 3339 strings in UTC with milliseconds. Instants that a client or an
  integration gives (\`due_date\`, \`interaction_date\`, \`start_time\`, \`end_time\`, \`started_at\`) are integers, Unix
  milliseconds. In a query both forms are understood.
- \`created_at\` and \`updated_at\` follow the order in which an organization's writes are committed, whatever the clock
  says, and two writes never share one: whoever asks again with the last \`updated_at\` seen as \`updated_since\` misses
  nothing but deletions.
- Texts have at most 1,000 characters (code points) unless the schema says otherwise. NUL, lone surrogates, and numbers
  beyond ±(2^53−1) are refused. Nothing is coerced: \`"5"\` is no integer.
- Emails are kept as written and compared regardless of case; one address, primary or alternative, belongs to at most
  one contact. A company's \`domain\` is kept in lower case without scheme, \`www.\`, path and trailing dot, and belongs
  to at most one company.
- \`custom\` is a flat object for custom fields of your own: at most 100 keys; values are strings, numbers, booleans.
`;

const WRITES = `
## Writes

- PATCH changes only what is present; \`null\` clears an optional field; \`{}\` changes nothing, not even
  \`updated_at\`. In \`custom\` it merges, and \`null\` removes a key.
- Unknown and read-only properties are refused, not dropped.
- DELETE is for good. Links to the record go with it and references to it become null; interactions stay.
- A batch, for bulk imports, creates up to ${BATCH_ITEMS_MAX} records from an array. Its items are independent, come to pass in order and
  see those before them; the answer is a 200 even if all fail, so look at \`summary.failed\`. A failed item carries
  \`error\` with \`code\`, \`message\` and, where there are any, \`details\`. A batch counts as one request.
- Linking what is linked, setting what is set and clearing what is unset change nothing and succeed; unlinking what is
  not linked is a 404.
`;

const IDEMPOTENCY = `
## Idempotency

Every POST and PATCH of version 2 takes an \`Idempotency-Key\`: 1 to 255 visible ASCII characters of your choice. The
same request with the same key gets the stored answer (status, \`Location\` and body to the byte), with
\`Idempotent-Replayed: true\`; it is not executed again and does not count against the rate limit. The same key with
another method, path or body is a 422. If the first is still running, the second waits for it.

Answers of requests that were executed are kept for 24 hours: successes, 404 and 409. A 401, 403, 422, 429 or 5xx is
not kept, so the request can be repeated with its key. Keys are told apart by organization and by user or API key. Of
two API keys of one user, each gets the answers to the other only if it has all of its scopes; if not, the request is a
409 at \`Idempotency-Key\`. On other methods, and in version 1, the header is ignored.

The stored answers of an organization may take ${ANSWER_BYTES_MAX / GIB} GiB, compressed, unless the operator sets another
limit. Once they do, a request with a new key is a 429 with \`Retry-After\`, and nothing of it is done.
`;

const LIMITS = `
## Limits

The rate limit is ${KEY_LIMIT} requests a minute for a key and ${ORG_LIMIT} for an organization, unless the operator sets others, in
minutes by the clock. \`X-RateLimit-Limit\`, \`-Remaining\` and \`-Reset\` describe the tighter of the two. Beyond it is
a 429 with \`Retry-After\`, which counts nowhere. ${WRONG_CREDENTIALS_PER_MINUTE} wrong keys a minute from one address
are answered with 401, further ones with 429; a valid key always passes. Transcript links last
${LINK_LIFETIME_SECONDS} seconds, for ${DOWNLOADS_PER_MINUTE} downloads a minute each.

Request bodies under way have a budget of bytes: ${IN_FLIGHT_LIMITS.orgBytes / MIB} MiB for an organization unless the
operator sets another, of which one key may have half; a larger body enters when its key has none under way. What does
not fit waits unread for up to 10 s, then it is a 429 with \`Retry-After\`, which counts nowhere. Bodies of at most
64 KiB have a budget of their own. A body may come slowly: it has ${BODY_PACES.record.wholeMs / SECOND_MS} s from its first byte,
${BODY_PACES.batch.wholeMs / SECOND_MS} s in a batch, and may pause for ${BODY_PACES.record.pauseMs / SECOND_MS} s. Beyond that it is a 408, and the connection is closed.

Answers of over 64 KiB have a budget of bytes under way, of which one key may have half. One that does not fit waits for
up to 10 s, then it is a 429 with \`Retry-After\`, which counts nowhere, and nothing was done. So read answers as they
come: a client that takes nothing of one for 15 s finds its connection closed.

The operator may give an organization a **quota** of records, or of bytes in them. A write that would go beyond it is a
403 \`OPERATION_FORBIDDEN\`, of which nothing is written: \`details\` names \`quota.records\` or \`quota.bytes\`, and
\`X-Quota-Records-Limit\`, \`X-Quota-Records-Used\`, \`X-Quota-Bytes-Limit\` and \`X-Quota-Bytes-Used\` say how it
stands. In a batch it is the error of each item for which there is no room, without these headers. Waiting does not help:
delete what is not needed, which gives room at once, or ask for more.
`;

const REQUESTS = `
## Requests

- Bodies are JSON in UTF-8: \`application/json\` or \`…+json\`, or no Content-Type at all; anything else is a 422. At
  most ${BODY_BYTES_MAX / MIB} MiB, ${BATCH_BODY_BYTES_MAX / MIB} MiB for a batch. A body where none is expected is
  ignored.
- Nesting deeper than 32 levels, more than 100,000 values, repeated keys and \`__proto__\` are refused.
- Paths are exact: a trailing slash or an encoded letter makes another path.
- \`/healthz\`, \`/readyz\` and \`/docs\` need no key and count against no limit.
- HTTPS always, save on the machine itself.
`;

const VERSIONS = `
## ${MIGRATION_TITLE}

Every answer of version 1 carries \`Deprecation\`, with the instant since when it is deprecated, and a \`Link\` to here.

People are contacts; companies and interactions keep their names. Fields are \`snake_case\` instead of \`camelCase\`.
Companies' additional properties, at top level in version 1, are in \`custom\`. Lists are GETs with parameters instead of
POSTs to \`/query\`. Issue a key of version 2 with the scopes you need (\`crm keys issue --from-v1 ID\` maps them), change
the paths, test, and revoke the old key. A conflict then has the \`Location\` of the record in the way, if the key may read
it: with \`…:write\` alone there is none.
`;
