// Notes: a tree without cycles.

import { notes } from '../../db/resources/notes.ts';
import { findRecord } from '../../db/tables/records.ts';
import type { Rules } from './rules.ts';

export const noteRules: Rules = {
  async prepare({ trx, access, id, current, input, faults }) {
    if (current === null || typeof input.parent_id !== 'string') return;
    for (let above: unknown = input.parent_id; typeof above === 'string'; ) {
      if (above === id) {
        const message = 'must not be the note itself or a note below it';
        faults.push({ path: 'parent_id', message, code: 'VALIDATION_FAILED' });
        return;
      }
      above = (await findRecord(trx, notes, { orgId: access.orgId, id: above }))?.parent_id;
    }
  },
};
