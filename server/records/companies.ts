// Companies: the domain is stored in normalised form.
import { normalizeDomain } from '../../db/model/text.ts';
import type { Rules } from './rules.ts';

export const companyRules: Rules = {
  prepare({ input, next }) {
    if (typeof input.domain === 'string') next.domain = normalizeDomain(input.domain);
  },
};
