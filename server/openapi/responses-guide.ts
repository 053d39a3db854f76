// The part of the guide about responses: their envelopes, errors, lists and values.
import { PAGE_BYTES_MAX } from '../../db/tables/page-size.ts';
import { PAGE_ROWS_DEFAULT, PAGE_ROWS_MAX } from '../v2/paging.ts';

const MIB = 1024 * 1024;

export const ENVELOPES = `
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

\`\`\`json
{
  "object": "success",
  "data": {"id": "019b76da-a800-7000-8000-fd01f2475cc9", "email": "ada@example.com"},
  "meta": {"request_id": "req_kZ3vQ8mT1xB6cJ0wYp4L", "api_version": "2", "timestamp": "2026-01-01T00:00:00.000Z"}
}
\`\`\`
`;

export const ERRORS = `
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

\`\`\`json
{
  "object": "error",
  "error": {
    "code": "VALIDATION_INVALID_FORMAT",
    "message": "email: must be an email address, such as ada@example.com",
    "details": [
      {
        "path": "email",
        "message": "must be an email address, such as ada@example.com",
        "code": "VALIDATION_INVALID_FORMAT"
      }
    ]
  },
  "meta": {"request_id": "req_kZ3vQ8mT1xB6cJ0wYp4L", "api_version": "2", "timestamp": "2026-01-01T00:00:00.000Z"}
}
\`\`\`
`;

export const LISTS = `
## Lists

Pagination works with cursors: send \`page_info.end_cursor\` as \`cursor\`, with the same order and filters, until
\`has_next_page\` is false. A cursor is opaque and works only for the list it came from; any other or altered cursor
returns 422. No record is skipped or repeated while others are created or deleted. A page of large records can end
early, with the record that takes it past ${PAGE_BYTES_MAX / MIB} MiB: rely on \`has_next_page\`, not on the number of records.

In version 2 \`limit\` is 1 to ${PAGE_ROWS_MAX} and defaults to ${PAGE_ROWS_DEFAULT}. Lists are sorted by \`created_at\`, newest
first, unless you set \`sort_by\` and \`sort_direction\`; records with equal values are sorted by ID. If you combine
filters, a record must match all of them. A filter with an unknown ID matches nothing. A query parameter that is
unknown, empty or of the wrong type returns 422. So does a repeated parameter, unless its description allows it,
and any query parameter on an operation that does not take any. Linked records are listed with the newest link first. \`GET /api/v2/links\` lists the links of many records at once, or
all of one kind.

\`\`\`sh
curl 'http://127.0.0.1:4000/api/v2/deals?status=open&sort_by=updated_at&limit=50' \\
  -H "Authorization: Bearer $CRM_API_KEY"
\`\`\`
`;

export const VALUES = `
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

\`\`\`json
{
  "name": "Difference engine",
  "estimated_value": 48000,
  "estimated_close_date": "2026-03-31",
  "point_of_contact_id": null,
  "custom": {"region": "north", "units": 2, "is_renewal": false}
}
\`\`\`
`;
