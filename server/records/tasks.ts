// Tasks: done_at follows done.
import { instantText } from '../../db/model/instants.ts';
import type { Rules } from './rules.ts';

export const taskRules: Rules = {
  prepare({ current, next, now }) {
    const wasDone = current?.done === true;
    if (next.done !== wasDone) next.done_at = next.done === true ? instantText(now) : null;
  },
};
