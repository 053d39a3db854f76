// The part of the guide about search.
import { formatCount } from '../../db/model/text.ts';
import { SEARCH_EXAMINED_MAX, SEARCH_RECORDS_MAX } from '../search/request.ts';

export const SEARCHES = `
## Find records by words

\`GET /api/v2/search?q=ada+engines\` searches contacts, companies, deals, notes, tasks, meetings, recordings, interactions and
bookings at once; \`types=contacts&types=deals\` limits it to some of them. Each result has the \`record\` as lists show it, and
\`match\`, which says why it was found:

| \`match.tier\` | Found because |
|---|---|
| \`identifier\` | \`q\` as a whole is an email address, domain, phone number, external ID (with or without its source), \`primary_id\` or ID of the record |
| \`name\` | its name, its title if it has no name, its email addresses or its domain have all words |
| \`text\` | the words occur anywhere in it: in notes, descriptions, places, attendees, transcripts, custom values and so on |

Results come in this order; within a tier, those created last come first. The order does not change, so pages repeat nothing and
skip nothing while others write.

- All words of \`q\` must occur in a record, in any order. The last one, if it has at least two characters, can be the beginning of a
  word: \`love\` finds Lovelace.
- Upper and lower case, accents and compatibility forms of characters make no difference: \`zoe\` finds Zoë. Scripts without spaces
  are searched by pairs of characters.
- Punctuation separates words. Addresses and domains are therefore found whole and by their parts: \`ada@ex\`, \`example.com\`.
  Telephone numbers are found as they are written, by all of their digits, and by the last 4, 7 or 10.
- Typing errors are not corrected, and words are not reduced to a stem: \`engine\` finds engines only as the last word.
- \`match.field\` is the field of the first hit, \`custom.NAME\` or \`transcript\`, and \`match.snippet\` at most 160 characters of it, as
  plain text: escape it before you show it as HTML.
- A record is found as soon as its write was answered.
- A request examines at most ${formatCount(SEARCH_EXAMINED_MAX)} entries of the index and ${formatCount(SEARCH_RECORDS_MAX)} records. With very common words a page can
  have few results, or none, although \`has_next_page\` is true: continue with \`end_cursor\`.

\`\`\`sh
curl 'http://127.0.0.1:4000/api/v2/search?q=ada+love&types=contacts' -H "Authorization: Bearer $CRM_API_KEY"
\`\`\`
`;
