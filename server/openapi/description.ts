// The text of the OpenAPI description that applies to every operation.
import { STORED_RESPONSE_BYTES_MAX } from '../../db/engine/stored-response-bytes.ts';
import { EXTERNAL_IDS_MAX } from '../../db/model/external-ids.ts';
import { V1_SCOPES, V2_SCOPES } from '../../db/model/resources/registry.ts';
import { PAGE_BYTES_MAX } from '../../db/tables/page-size.ts';
import { MIGRATION_TITLE } from '../deprecation.ts';
import { BATCH_ITEMS_MAX } from '../operation.ts';
import { PAGE_ROWS_DEFAULT, PAGE_ROWS_MAX } from '../v2/paging.ts';
import { COPY } from './copy-guide.ts';
import { LIMITS, REQUESTS } from './limits.ts';
import { QUERIES } from './query-guide.ts';
import { RECEIVE } from './receive-guide.ts';
import { SEARCHES } from './search-guide.ts';
import { SELECTIONS } from './selection-guide.ts';
import { SYNC } from './sync-guide.ts';
import { TIMELINES } from './timeline-guide.ts';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

/** The text of the description, in Markdown. */
export function description(): string {
  const sections = [
    INTRODUCTION,
    authentication(),
    ENVELOPES,
    ERRORS,
    LISTS,
    SELECTIONS,
    VALUES,
    WRITES,
    EXTERNAL_IDS,
    CONDITIONS,
    IDEMPOTENCY,
    QUERIES,
    SEARCHES,
    TIMELINES,
    COPY,
    RECEIVE,
    SYNC,
    LIMITS,
    REQUESTS,
    VERSIONS,
  ];
  return sections.map((section) => section.trim()).join('\n\n');
}

const INTRODUCTION = `
Stores the customer records of an organization – contacts, companies, deals and related data – and serves them as
JSON over HTTP.

**Version 2**, under \`/api/v2\`, covers the whole data model. **Version 1**, under \`/api/v1\`, is deprecated: it keeps
working unchanged and has no shutdown date. Both versions share the same records: what you write with one, you can
read with the other.

To get started, create a key with \`crm keys issue\` and send \`GET /api/v2/authenticate\` with it.
`;

function authentication(): string {
  return `
## Authentication

Send one API key with every request, in exactly one of two headers: \`X-Service-Api-Key: <key>\` or
\`Authorization: Bearer <key>\`. Sending both, or one of them twice, returns 401. Version 2 keys start with
\`service_live_\`, version 1 keys with \`service_api_\` or \`service_pk_\`. A key works only with its own version.

Each key has **scopes**, and each operation names the scopes it needs. A request without them returns 403.

- Version 2: ${scopeList(V2_SCOPES)}. No scope grants full access. Linking and unlinking
  records needs the write scope of the parent record. Listing linked records needs the read scopes of both sides; the
  records of a note need only \`notes:read\`.
- Version 1: ${scopeList(V1_SCOPES)}. \`ALL\` grants access to every endpoint.

Each version 2 key has an **access level**. An organization-wide key can access every record of its organization. A
user-bound key can access only the records that its user owns: the owner is \`owner_id\`, for tasks
\`main_assignee_id\`, and for notes, segments and interactions the creator. All other records behave as if they did not
exist: 404 in paths, 422 in bodies, and left out of filters and lists of linked records. New records belong to the
user of the key, and assigning a record to someone else returns 403. Pipelines belong to the organization; user-bound
keys can only read them.

A key can be restricted to **networks**. Every request from another IP address returns 403 with the address that the
service saw.

If a key is revoked, rotated or expires, the change takes effect with the next request.`;
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

| \`object\` | Used for | Shape |
|---|---|---|
| \`success\` | one record | \`{ object, data, meta }\` |
| \`list\` | a page of records | \`{ object, data: [], page_info, meta }\` |
| \`batch\` | the results of a batch | \`{ object, data: { items, summary }, meta }\` |
| \`error\` | every 4xx and 5xx | \`{ object, error: { code, message, details }, meta }\` |

\`meta.request_id\` identifies the request and is repeated in the \`X-Request-Id\` header. Quote it when you ask for help.
A 204 response has no body. Responses must not be cached (\`Cache-Control: no-store\`). HEAD returns the same headers as
GET, without a body.
`;

const ERRORS = `
## Errors

| Status | \`error.code\` |
|---|---|
| 401 | \`AUTH_MISSING_CREDENTIALS\`, \`AUTH_INVALID_API_KEY\`, \`AUTH_EXPIRED_API_KEY\` |
| 403 | \`AUTH_INSUFFICIENT_SCOPE\`, \`OPERATION_FORBIDDEN\` |
| 404 | \`RESOURCE_NOT_FOUND\` |
| 405 | \`OPERATION_FORBIDDEN\`, with \`Allow\` |
| 409 | \`RESOURCE_CONFLICT\`; in version 2 with the \`Location\` of a conflicting record, if the key can read it |
| 408 | \`VALIDATION_OUT_OF_RANGE\`: the body took too long to arrive; the connection is closed |
| 413 | \`VALIDATION_OUT_OF_RANGE\` |
| 422 | \`VALIDATION_REQUIRED_FIELD\`, \`VALIDATION_INVALID_FORMAT\`, \`VALIDATION_OUT_OF_RANGE\`, \`VALIDATION_FAILED\` |
| 429 | \`RATE_LIMIT_EXCEEDED\`, with \`Retry-After\` |
| 500 | \`INTERNAL_ERROR\` |
| 503 | \`INTERNAL_ERROR\` with \`Retry-After\`: the database cannot be reached or written to right now, or what you ask for is still being built after an upgrade |

Handle errors by their \`code\`; \`message\` is meant for people. A 422 response lists the errors in \`details\`, each
with \`path\` (dotted, as in \`alt_emails.0\`), \`message\` and \`code\`. A single error gives the response its own code;
several errors give \`VALIDATION_FAILED\`.

Requests are checked in this order: route (404, 405), key (401), network and scope (403), body size (413), idempotent
replay, rate limit (429), validation (422), existence and execution. An unknown ID in a path returns 404, whatever its
format; an unknown ID in a body returns 422.
`;

const LISTS = `
## Lists

Pagination works with cursors: send \`page_info.end_cursor\` as \`cursor\`, with the same order and filters, until
\`has_next_page\` is false. A cursor is opaque and works only for the list it came from; any other or altered cursor
returns 422. No record is skipped or repeated while others are created or deleted. A page of large records can end
early, with the record that takes it past ${PAGE_BYTES_MAX / MIB} MiB: rely on \`has_next_page\`, not on the number of records.

In version 2 \`limit\` is 1 to ${PAGE_ROWS_MAX} and defaults to ${PAGE_ROWS_DEFAULT}. Lists are sorted by \`created_at\`, newest
first, unless you set \`sort_by\` and \`sort_direction\`; records with equal values are sorted by ID. If you combine
filters, a record must match all of them. A filter with an unknown ID matches nothing. A query parameter that is
unknown, empty or of the wrong type returns 422. So does one that is repeated, unless its description allows that, and any
query parameter on an operation without any. Linked records are listed with the newest link first. \`GET /api/v2/links\` lists the links of many records at once, or
all of one kind.
`;

const VALUES = `
## Values

- IDs are opaque strings (UUIDv7).
- Version 2 responses contain every field, unless a list is asked for some \`fields\`: unset fields are \`null\`, empty lists are \`[]\` and an empty \`custom\` is
  \`{}\`. Version 1 responses leave out unset fields.
- Timestamps that the service sets (\`…_at\`) are RFC 3339 strings in UTC with milliseconds. Timestamps that a client
  or an integration sets (\`due_date\`, \`interaction_date\`, \`start_time\`, \`end_time\`, \`started_at\`) are integers in
  Unix milliseconds. Query parameters accept both forms.
- \`created_at\` and \`updated_at\` follow the order in which an organization's writes are committed, whatever the clock
  says, and no two writes share a value. If you poll with the last \`updated_at\` you saw as \`updated_since\`, you miss
  only deletions.
- Strings have at most 1,000 characters (code points) unless the schema says otherwise. NUL, lone surrogates and
  numbers outside ±(2^53−1) are rejected. Values are never converted: \`"5"\` is not an integer.
- Email addresses are stored as written and compared case-insensitively. An address, primary or alternative, belongs
  to at most one contact. A company's \`domain\` is stored in lowercase without scheme, \`www.\`, path and trailing dot,
  and belongs to at most one company.
- \`custom\` is a flat object for your own fields: at most 100 keys with string, number or boolean values.
`;

const WRITES = `
## Writes

- PATCH changes only the fields you send. \`null\` clears an optional field. \`{}\`, or values that the record
  already has, change nothing, not even \`updated_at\`. The keys of \`custom\` are merged, and \`null\` removes a key.
- Unknown and read-only properties are rejected, not ignored.
- DELETE removes the record and its links, and sets references to it to null; interactions are kept. As long as the
  change is kept, \`POST /api/v2/{resource}/{id}/undelete\` restores all of that.
- An upsert (\`POST /api/v2/{resource}/upsert\`) creates a record, or changes the one that it finds by \`external_id\`, by the
  \`email\` of a contact or by the \`domain\` of a company. Sent again, it changes nothing, so a synchronization can send
  everything it has. \`outcome\` says what was done, and \`matched_by\` what the record was found by.
- A batch creates, upserts, changes, gets or deletes up to ${BATCH_ITEMS_MAX} records, from an array of records or of IDs. Its items are independent, are processed in order and see the items
  before them. The response is 200 even if every item fails, so check \`summary.failed\`. A failed item has an
  \`error\` with \`code\`, \`message\` and, where available, \`details\`. A batch counts as one request.
- Linking a linked record, setting an association to its current record and clearing an unset association succeed and
  change nothing. Unlinking a record that is not linked returns 404. \`POST /api/v2/links/batch\` links up to
  ${BATCH_ITEMS_MAX} records of any kind, and \`POST /api/v2/links/batch/delete\` unlinks them.
`;

const EXTERNAL_IDS = `
## IDs of other systems

Contacts, companies, deals, pipelines, tasks, notes and segments can carry the IDs that they have in other systems, so
that a synchronization finds them again. Send \`{"source": "salesforce", "id": "003Hs00004kXyZ1IAK"}\` to
\`POST /api/v2/contacts/{id}/external_ids\`, and find the contact with
\`GET /api/v2/contacts?external_id=salesforce:003Hs00004kXyZ1IAK\`. Lists of pipelines do not have this filter.

- The source is a name that you choose for the other system. In the filter, it ends at the first colon.
- A record has at most one ID of each source, and at most ${EXTERNAL_IDS_MAX} in all. To change one, remove it first.
- Two records of one resource cannot have the same ID of a source: the second request returns 409. IDs are compared exactly.
- Adding or removing one changes neither \`updated_at\` nor the \`ETag\` of the record. They are deleted with the record.
`;

const CONDITIONS = `
## ETags and dry runs

GET of one record returns an \`ETag\`, which changes whenever \`data\` would.

- **Get it only if it changed**: send the tag as \`If-None-Match\`. If the record still has that version, the response is
  304 without a body. A recording is always sent, because its link to the transcript is new each time.
- **Do not overwrite a change**: send the tag as \`If-Match\` with PATCH or DELETE. If the record has another version by
  now, the response is 409 at \`If-Match\`, and nothing changes. \`*\` stands for any version.

**Try a write**: send \`Dry-Run: true\` with a version 2 write. It is carried out with all its checks, and undone. The
response is the one that the write would have had, with \`Dry-Run: true\`. IDs in it are not kept. A dry run counts as a request, and cannot be
combined with \`Idempotency-Key\`. Reads and version 1 ignore these headers.
`;

const IDEMPOTENCY = `
## Idempotency

Every version 2 POST and PATCH accepts an \`Idempotency-Key\` header: 1 to 255 visible ASCII characters of your choice.
Repeating a request with the same key returns the stored response (status, \`Location\` and the exact body) with
\`Idempotent-Replayed: true\`. The request is not executed again and does not count against the rate limit. Reusing the
key with another method, path or body returns 422. If the first request is still running, the second one waits for it.

Responses of executed requests are stored for 24 hours: successes, 404 and 409. A 401, 403, 422, 429 or 5xx is not
stored, so you can repeat the request with the same key. Keys are separate for each organization and for each user or
API key. Two API keys of one user share stored responses, but a response is returned only to a key with all the scopes
of the key that sent the first request; otherwise the request returns 409 at \`Idempotency-Key\`. The header is ignored
on other methods and in version 1.

The stored responses of an organization can take up to ${STORED_RESPONSE_BYTES_MAX / GIB} GiB, compressed, unless the operator sets another
limit. Beyond the limit, a request with a new key returns 429 with \`Retry-After\` and is not executed.
`;

const VERSIONS = `
## ${MIGRATION_TITLE}

Every version 1 response has the \`Deprecation\` header, with the date of deprecation, and a \`Link\` to this section.

People are now contacts; companies and interactions keep their names. Field names are \`snake_case\` instead of
\`camelCase\`. Additional properties of companies move from the top level to \`custom\`. To list records, send a GET with
query parameters instead of a POST to \`/query\`. To migrate, issue a version 2 key with the scopes you need
(\`crm keys issue --from-v1 ID\` maps them), change the paths, test, and revoke the old key. In version 2 a conflict
returns the \`Location\` of the conflicting record if the key can read it, but not to a key with only \`…:write\`.
`;
