// What the description says about limits, and about requests as such.
import { BATCH_BODY_BYTES_MAX, BODY_BYTES_MAX } from '../operation.ts';
import { BODY_TIMEOUTS } from '../pipeline/body-timeouts.ts';
import { WRONG_CREDENTIALS_PER_MINUTE } from '../pipeline/credential.ts';
import { KEY_LIMIT, ORG_LIMIT } from '../pipeline/rate-limit.ts';
import { IN_FLIGHT_LIMITS } from '../quotas/in-flight-budget.ts';
import { DOWNLOADS_PER_MINUTE, LINK_LIFETIME_SECONDS } from '../v2/transcript-links.ts';

const MIB = 1024 * 1024;
const SECOND_MS = 1000;

/** The limits on requests and on what an organization holds, in Markdown. */
export const LIMITS = `
## Limits

A key can send ${KEY_LIMIT} requests per minute and an organization ${ORG_LIMIT}, unless the operator sets other limits. Each window is
a minute of the clock. \`X-RateLimit-Limit\`, \`-Remaining\` and \`-Reset\` describe the tighter of the two limits. A request
over the limit returns 429 with \`Retry-After\` and does not count. After ${WRONG_CREDENTIALS_PER_MINUTE} invalid keys per minute from one IP
address, further invalid keys return 429 instead of 401; requests with a valid key are not affected. A transcript link
is valid for ${LINK_LIFETIME_SECONDS} seconds and allows ${DOWNLOADS_PER_MINUTE} downloads per minute.

Request bodies in progress share a budget of bytes: ${IN_FLIGHT_LIMITS.orgBytes / MIB} MiB for each organization, unless the operator sets
another limit. One key can use half of it; a larger body is accepted when its key has no other body in progress. A body
that does not fit waits for up to 10 s. After that, the request returns 429 with \`Retry-After\` and does not count.
Bodies of up to 64 KiB have a separate budget. A body must arrive within ${BODY_TIMEOUTS.record.wholeMs / SECOND_MS} s of its first byte,
${BODY_TIMEOUTS.batch.wholeMs / SECOND_MS} s for a batch, and must not pause for ${BODY_TIMEOUTS.record.pauseMs / SECOND_MS} s; otherwise the request returns 408 and the connection is closed.

Responses of more than 64 KiB share a budget of bytes too, and one key can use half of it. A response that does not fit
waits for up to 10 s. After that, the request returns 429 with \`Retry-After\`, does not count and has no effect. Read
responses as they arrive: if a client reads nothing for 15 s, its connection is closed.

The operator can set a **quota** for an organization, on the number of records or on the bytes in them. A write that
would exceed it returns 403 \`OPERATION_FORBIDDEN\` and writes nothing. \`details\` names \`quota.records\` or
\`quota.bytes\`, and the headers \`X-Quota-Records-Limit\`, \`X-Quota-Records-Used\`, \`X-Quota-Bytes-Limit\` and
\`X-Quota-Bytes-Used\` show the current usage. In a batch, each item that does not fit fails with this error, without the
headers. Waiting does not help: delete records you do not need, which frees space at once, or ask for a larger quota.

\`\`\`http
HTTP/1.1 429 Too Many Requests
Retry-After: 12
X-RateLimit-Limit: 200
X-RateLimit-Remaining: 0
X-RateLimit-Reset: 1767225660
\`\`\`
`;

/** What holds for every request, in Markdown. */
export const REQUESTS = `
## Requests

- Bodies are JSON in UTF-8, sent as \`application/json\` or \`…+json\` or without a Content-Type. Any other content type
  returns 422. A body can have up to ${BODY_BYTES_MAX / MIB} MiB, a batch up to ${BATCH_BODY_BYTES_MAX / MIB} MiB. Bodies of operations that do not take
  one are ignored.
- JSON that is nested deeper than 32 levels, has more than 100,000 values, repeats a key or has a key \`__proto__\` is
  rejected.
- Paths must match exactly: a trailing slash or a percent-encoded letter is a different path.
- \`/healthz\`, \`/readyz\` and \`/docs\` need no key and have no rate limit.
- Always use HTTPS, except on the machine that runs the service.

\`\`\`sh
curl 'http://127.0.0.1:4000/api/v2/companies' \\
  -H "Authorization: Bearer $CRM_API_KEY" \\
  -H 'Content-Type: application/json' -d '{"name": "Example Ltd"}'
\`\`\`
`;
