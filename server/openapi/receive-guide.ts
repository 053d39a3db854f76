// The part of the description about receiving webhooks, with the programs that `crm recipe receive` and `receive-python` print.
import python from './receive.py.txt' with { type: 'text' };
import typescript from './receive.ts.txt' with { type: 'text' };

export const RECEIVE = `
## Receive webhooks

A webhook sends each change to your URL as it happens, as \`{type, timestamp, data}\`, where \`data\` is the change. Requests are
signed as in the Standard Webhooks specification. A receiver:

1. **verifies the signature** with the body as it came, and refuses a \`webhook-timestamp\` that is more than five minutes off;
2. **answers within 15 seconds**: it stores what arrived, and handles it afterwards. Any answer but 2xx is a failure, after which
   the change is sent again;
3. **handles each once**: \`webhook-id\` is the same every time that a change is sent;
4. **minds the order**: the changes of one record arrive in order, those of different records in any order.

\`crm listen --forward localhost:3000\` sends changes to a receiver on your machine, signed in the same way. This one is printed by
\`crm recipe receive\`, and \`crm help receive-webhooks\` explains it:

\`\`\`ts
${typescript}\`\`\`

The same in Python, without any package (\`crm recipe receive-python\`):

\`\`\`python
${python}\`\`\`
`;
