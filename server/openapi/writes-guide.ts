// The part of the guide about writes: what they do, external IDs, ETags, dry runs and idempotency.
import { STORED_RESPONSE_BYTES_MAX } from '../../db/engine/stored-response-bytes.ts';
import { EXTERNAL_IDS_MAX } from '../../db/model/external-ids.ts';
import { BATCH_ITEMS_MAX } from '../operation.ts';

const GIB = 1024 * 1024 * 1024;

export const WRITES = `
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

\`\`\`sh
curl -X PATCH "http://127.0.0.1:4000/api/v2/contacts/$CONTACT" \\
  -H "Authorization: Bearer $CRM_API_KEY" \\
  --json '{"title": "Head of Engines", "phone": null, "custom": {"region": "north"}}'
\`\`\`
`;

export const SYSTEM_IDS = `
## External IDs

Contacts, companies, deals, pipelines, tasks, notes and segments can have external IDs, the IDs of other systems, so
that a synchronization finds them again. Send \`{"source": "salesforce", "id": "003Hs00004kXyZ1IAK"}\` to
\`POST /api/v2/contacts/{id}/external_ids\`, and find the contact with
\`GET /api/v2/contacts?external_id=salesforce:003Hs00004kXyZ1IAK\`. Lists of pipelines do not have this filter.

- The source is a name that you choose for the other system. In the filter, it ends at the first colon.
- A record has at most one external ID of each source, and at most ${EXTERNAL_IDS_MAX} in all. To change one, remove it first.
- Two records of one resource cannot have the same ID of a source: the second request returns 409. IDs are compared exactly.
- Adding or removing one changes neither \`updated_at\` nor the \`ETag\` of the record. They are deleted with the record.

\`\`\`sh
curl "http://127.0.0.1:4000/api/v2/contacts/$CONTACT/external_ids" \\
  -H "Authorization: Bearer $CRM_API_KEY" \\
  --json '{"source": "salesforce", "id": "003Hs00004kXyZ1IAK"}'
\`\`\`
`;

export const CONDITIONS = `
## ETags and dry runs

GET of one record returns an \`ETag\`, which changes whenever \`data\` would.

- **Get it only if it changed**: send the tag as \`If-None-Match\`. If the record still has that version, the response is
  304 without a body. A recording is always sent, because its link to the transcript is new each time.
- **Do not overwrite a change**: send the tag as \`If-Match\` with PATCH or DELETE. If the record has another version by
  now, the response is 409 at \`If-Match\`, and nothing changes. \`*\` matches any version.

**Try a write**: send \`Dry-Run: true\` with a version 2 write. It is carried out with all its checks, and undone. The
response is the one that the write would have had, with \`Dry-Run: true\`. IDs in it are not kept. A dry run counts as a request, and cannot be
combined with \`Idempotency-Key\`. Reads and version 1 ignore these headers.

\`\`\`sh
curl "http://127.0.0.1:4000/api/v2/contacts" \\
  -H "Authorization: Bearer $CRM_API_KEY" -H 'Dry-Run: true' \\
  --json '{"email": "charles@example.com"}'
\`\`\`
`;

export const IDEMPOTENCY = `
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

\`\`\`sh
curl "http://127.0.0.1:4000/api/v2/contacts" \\
  -H "Authorization: Bearer $CRM_API_KEY" -H 'Idempotency-Key: signup-1842' \\
  --json '{"email": "mary@example.com"}'
\`\`\`
`;
