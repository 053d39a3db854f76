// The part of the guide about queries and counts.
import { FILTER_CONDITIONS_MAX, FILTER_LEVELS_MAX, FILTER_VALUES_MAX } from '../../db/model/query/filter.ts';
import { formatCount } from '../../db/model/text.ts';
import { COUNT_EXAMINED_MAX, PAGE_EXAMINED_MAX } from '../../db/queries/run-query.ts';

export const QUERIES = `
## Query records

\`POST /api/v2/{resource}/query\` returns the records that meet a \`filter\`, in pages like those of lists, and
\`POST /api/v2/{resource}/count\` says how many there are. Both only read: they need the scope for reading the resource.

\`\`\`json
{
  "filter": {
    "status": "open",
    "estimated_close_date": {"lte": {"ahead": "30d"}},
    "or": [{"estimated_value": {"gte": 10000}}, {"custom.tier": "gold"}],
    "contacts": {"is_null": false}
  },
  "sort_by": "estimated_value",
  "limit": 50
}
\`\`\`

A filter is an object in which everything must hold: fields with a value or with operators, \`{"and": […]}\`, \`{"or": […]}\` and
\`{"not": …}\`. A field with a value alone means \`eq\`. The descriptions of the operations list the fields of each resource.

| Fields | Operators |
|---|---|
| text, addresses, domains | \`eq\` \`ne\` \`in\` \`not_in\` \`contains\` \`starts_with\` \`is_null\` |
| numbers, times, days | \`eq\` \`ne\` \`in\` \`not_in\` \`lt\` \`lte\` \`gt\` \`gte\` \`between\` \`is_null\` |
| IDs, true or false, one of several values | \`eq\` \`ne\` \`in\` \`not_in\` \`is_null\` |
| \`custom.NAME\` | all of these, for text, numbers and true or false |
| lists and links | \`has\` \`any_of\` \`is_null\` |

- Text is compared without regard to case. \`between\` includes both ends.
- Null meets only \`"is_null": true\`, \`ne\` and \`not_in\`, and is not a value of any other operator. \`not\` is the exact
  complement of what it contains.
- Times are RFC 3339, Unix milliseconds, or relative to now: \`{"ago": "30d"}\` and \`{"ahead": "7d"}\`, in hours (\`h\`), days (\`d\`)
  or weeks (\`w\`). They stay the same on all pages of a query. Days are \`YYYY-MM-DD\` or relative, in UTC.
- \`custom.NAME\` is everything after the first dot. A value of another type is not equal to the given one, and neither less nor
  greater.
- Links are \`companies\`, \`contacts\`, \`deals\` and \`segments\`, as the resource has them, by its own fields and by links.
  They need the scope for reading what they lead to. IDs that do not exist, or that the key cannot see, match nothing;
  if all records that a link leads to are hidden, it counts as null.
- \`sort_by\` takes \`created_at\` (the default), \`updated_at\` and what the operation lists. Records without a value are last in both
  directions.
- \`fields\` and \`include\` are lists in the body, and work as in lists. They, and \`limit\`, can change from page to page; \`cursor\`
  needs the same filter and order.

A filter has at most ${FILTER_CONDITIONS_MAX} conditions, each operator counting, ${FILTER_LEVELS_MAX} levels of \`and\`, \`or\` and \`not\`, and ${FILTER_VALUES_MAX} values in a list. A page examines at
most ${formatCount(PAGE_EXAMINED_MAX)} index entries, records and links: if what is asked for is rare, a page can be short or empty although
\`has_next_page\` is true. A count examines at most ${formatCount(COUNT_EXAMINED_MAX)}; beyond that, \`is_exact\` is false and \`count\` is a lower
bound. Conditions on IDs, links, addresses, names, owners, stages and statuses are the fastest.
`;
