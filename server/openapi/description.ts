// The text of the OpenAPI description that applies to every operation.
import { V1_SCOPES, V2_SCOPES } from '../../db/model/resources/registry.ts';
import { MIGRATION_TITLE } from '../deprecation.ts';
import { COPY } from './copy-guide.ts';
import { LIMITS, REQUESTS } from './limits.ts';
import { QUERIES } from './query-guide.ts';
import { RECEIVE } from './receive-guide.ts';
import { ENVELOPES, ERRORS, LISTS, VALUES } from './responses-guide.ts';
import { SEARCHES } from './search-guide.ts';
import { SELECTIONS } from './selection-guide.ts';
import { SYNC } from './sync-guide.ts';
import { TIMELINES } from './timeline-guide.ts';
import { CONDITIONS, IDEMPOTENCY, SYSTEM_IDS, WRITES } from './writes-guide.ts';

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
    SYSTEM_IDS,
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

If a key is revoked, rotated or expires, the change takes effect with the next request.

\`\`\`sh
curl 'http://127.0.0.1:4000/api/v2/authenticate' -H "Authorization: Bearer $CRM_API_KEY"
\`\`\``;
}

function scopeList(scopes: readonly string[]): string {
  const byResource = Map.groupBy(scopes, (scope) => scope.split(':')[0] ?? scope);
  const texts = [...byResource].map(([resource, all]) => {
    const actions = all.map((scope) => scope.split(':')[1]).filter((action) => action !== undefined);
    return actions.length === 0 ? `\`${resource}\`` : `\`${resource}:${actions.join('|')}\``;
  });
  return texts.join(', ');
}

const VERSIONS = `
## ${MIGRATION_TITLE}

Every version 1 response has the \`Deprecation\` header, with the date of deprecation, and a \`Link\` to this section.

People are now contacts; companies and interactions keep their names. Field names are \`snake_case\` instead of
\`camelCase\`. Additional properties of companies move from the top level to \`custom\`. To list records, send a GET with
query parameters instead of a POST to \`/query\`. To migrate, issue a version 2 key with the scopes you need
(\`crm keys issue --from-v1 ID\` maps them), change the paths, test, and revoke the old key. In version 2 a conflict
returns the \`Location\` of the conflicting record if the key can read it, but not to a key with only \`…:write\`.

The same record in both versions:

\`\`\`sh
curl "http://127.0.0.1:4000/api/v1/people/$CONTACT" -H "Authorization: Bearer $CRM_V1_KEY"
curl "http://127.0.0.1:4000/api/v2/contacts/$CONTACT" -H "Authorization: Bearer $CRM_API_KEY"
\`\`\`
`;
