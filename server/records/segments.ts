// Segments: their members are counted whenever they are shown.
import { segmentMembers } from '../../db/model/resources/segments.ts';
import { countLinks } from '../../db/tables/links.ts';
import type { Rules } from './rules.ts';

export const segmentRules: Rules = {
  async present({ db, access: { orgNumber, userId } }, records) {
    for (const record of records) {
      const segment = { orgNumber, id: String(record.id) };
      record.member_count = await countLinks(db, segmentMembers, segment, userId);
    }
  },
};
