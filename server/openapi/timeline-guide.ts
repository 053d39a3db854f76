// The part of the guide about timelines.

export const TIMELINES = `
## Timelines

\`GET /api/v2/contacts/{id}/timeline\`, and the same of companies and deals, returns what happened to a record and what will,
newest first, in pages like those of lists. Each entry has the time \`at\`, a \`kind\`, the \`title\` and the whole \`record\`
that it is about:

| \`kind\` | \`at\` | \`detail\` |
|---|---|---|
| \`interaction\` | \`interaction_date\` | null |
| \`meeting\` | \`start_time\` | \`recording_ids\` |
| \`booking\` | \`start_time\` | null |
| \`note\` | \`created_at\` | null |
| \`task\` | \`created_at\`, and \`done_at\` while it is done | null, and \`is_done\` |
| \`deal\` | \`created_at\` | null |
| \`stage\` | when the deal moved to another stage | \`from\` and \`to\`, the names at that time |
| \`change\` | when the record was updated | \`before\` and \`after\`, as long as changes are kept |

- Deals are on the timelines of their company, their contacts and themselves. A change of stage is on those that the deal belonged to when its stage changed.
- Meetings and bookings are on the timelines of the contacts whose addresses are in them, also of contacts that were created later.
  A meeting or booking without a start is at its \`created_at\`.
- What is on the timeline of a contact or deal is on that of its company too, unless you send \`scope=own\`. It stays with the
  company that the contact or deal had at the time. So do updates of contacts and deals: with the company that they had before.
- What is deleted or unlinked disappears from all timelines. An undelete brings it back where it was.
- With \`kinds\`, \`since\` and \`until\` you get a part of a timeline: \`kinds=note&kinds=task&since=2026-01-01T00:00:00Z\`.

\`\`\`sh
curl "http://127.0.0.1:4000/api/v2/contacts/$CONTACT/timeline?kinds=note&kinds=task" \\
  -H "Authorization: Bearer $CRM_API_KEY"
\`\`\`
`;
