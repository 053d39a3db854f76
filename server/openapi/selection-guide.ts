// The part of the guide about include and fields.
import { RELATED_MAX } from '../../db/model/resource.ts';
import { INCLUDES_MAX } from '../../db/model/resources/includes.ts';
import { formatCount } from '../../db/model/text.ts';
import { RELATED_EXAMINED_MAX } from '../../db/records/related-ids.ts';

export const SELECTIONS = `
## Include and fields

**Get related records with the same request**: send \`include\` with GET of one record or of a list, up to ${INCLUDES_MAX} times:
\`GET /api/v2/deals?include=company&include=contacts\`. Each record of \`data\` gets \`included_ids\`, and the records
themselves are under \`included\`, each once:

\`\`\`json
{
  "object": "list",
  "data": [{ "id": "019b…d1", "included_ids": { "company": ["019b…c1"], "contacts": ["019b…a2", "019b…a1"] } }],
  "included": { "companies": { "019b…c1": {} }, "contacts": { "019b…a1": {}, "019b…a2": {} } }
}
\`\`\`

- Each resource has its own names; the description of \`include\` lists them. \`company\`, \`pipeline\` and \`stage\` are what
  the record refers to. \`owner\` is its user, for tasks \`main_assignee_id\`, and for notes, segments and interactions the
  creator, if that is a user. \`contacts\`, \`companies\`, \`deals\`, \`segments\`, \`notes\` and \`tasks\` are all that the record
  refers to, is linked to, or that refers to it: the deals of a contact are those it takes part in, and those whose point of
  contact it is.
- At most ${RELATED_MAX} of each name are included with a record, the newest first, by \`created_at\`; \`[]\` means there are none. Use a
  filter of their list for all. If a user-bound key can see few of them, or a note is about records of several resources,
  the newest ${formatCount(RELATED_EXAMINED_MAX)} are examined.
- Records are included as lists show them. Users are under \`users\` with \`id\`, \`email\` and \`name\`; stages are under
  \`stages\`. What is included does not include anything itself.
- Each name needs the scope for reading it, stages \`pipelines:read\`, and \`owner\` none; without it the response is 403. A
  record that the key cannot see is left out.
- What is included counts towards the size at which a page ends.

**Get less**: send \`fields\` with a list to get only these fields, besides \`id\`:
\`GET /api/v2/contacts?fields=email&fields=company_id\`.

You can change both from page to page. A response with \`include\` has no \`ETag\`.
`;
