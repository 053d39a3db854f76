// The part of the description about copies, with the programs that `crm recipe copy` and `copy-python` print.
import python from './copy.py.txt' with { type: 'text' };
import typescript from './copy.ts.txt' with { type: 'text' };

export const COPY = `
## Keep a copy in sync

To keep an exact copy of all records elsewhere:

1. Get the \`end_cursor\` of \`GET /changes?start=now\`, and keep it.
2. Copy all lists, with \`GET /links\` for the links.
3. Follow \`GET /changes\` from that cursor with \`wait=25\`. For each change, store its \`record\`, or delete your copy and its links if \`record\` is null.
   For \`linked\` and \`unlinked\`, store or delete the \`link\`. Save the new cursor in the same transaction.
4. If the response is 422 with the code \`VALIDATION_OUT_OF_RANGE\`, the log does not go back that far: start over.

This program does so, with \`openapi-fetch\` and the types that \`openapi-typescript\` generates. \`crm recipe copy\` prints it, and
\`crm help copy\` explains it:

\`\`\`ts
${typescript}\`\`\`

The same in Python, without any package (\`crm recipe copy-python\`):

\`\`\`python
${python}\`\`\`
`;
