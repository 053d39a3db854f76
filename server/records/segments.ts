// Segments: their members are counted whenever they are shown.
import { segmentMembers } from '../../db/model/resources/segments.ts';
import { countLinks } from '../../db/records/links.ts';
import type { Rules } from './rules.ts';

export const segmentRules: Rules = {
  async findComputed({ db, access: { orgNumber, userId } }, ids) {
    const counts = await countLinks(db, segmentMembers, { orgNumber, ownerId: userId }, ids);
    return (record) => {
      record.member_count = counts.get(String(record.id)) ?? 0;
    };
  },
};
