// The part of the description about syncs, with the program that `crm recipe sync` prints.
import { BATCH_ITEMS_MAX } from '../operation.ts';
import program from './sync.ts.txt' with { type: 'text' };

export const SYNC = `
## Sync from another system

A program that copies the records of another system every minute needs four things to be exact:

1. **Upserts by external ID**, in batches. Sent again, they change nothing, so a run that was interrupted is repeated.
   They need no \`Idempotency-Key\`: one made of the content would replay the old response when a record returns to an
   earlier value.
2. **A position that is saved after the records are written**, and an overlap: a change can become visible late, with an
   earlier \`updated_at\`.
3. **Deletions.** Upserts with \`on_match: keep\` and \`on_missing: fail\` find up to ${BATCH_ITEMS_MAX} records by their external IDs and
   write nothing; \`batch/delete\` takes the IDs that they return.
4. **Rejected items that are kept and tried again**, so that one invalid record does not hold up the others.

This program does so for companies and contacts, with \`openapi-fetch\` and the types that \`openapi-typescript\`
generates. Adapt its first part. \`crm recipe sync\` prints it, and \`crm help sync\` explains how to set it up.

\`\`\`ts
${program}\`\`\`
`;
