// Segments: their members are counted whenever they are shown.
import { segmentMembers } from '../../db/model/resources/segments.ts';
import { countLinks } from '../../db/tables/links.ts';
import type { Rules } from './rules.ts';

export const segmentRules: Rules = {
  async present({ db, access: { orgNumber, userId } }, records) {
    const ids = records.map(({ id }) => String(id));
    const counts = await countLinks(db, segmentMembers, { orgNumber, ownerId: userId }, ids);
    for (const record of records) record.member_count = counts.get(String(record.id)) ?? 0;
  },
};
