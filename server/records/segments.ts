// Segments: how many members they have is counted when they are shown.

import { segments } from '../../db/resources/segments.ts';
import { countLinks } from '../../db/tables/links.ts';
import type { Rules } from './rules.ts';

export const segmentRules: Rules = {
  async present({ db, access }, records) {
    const { members } = segments.links;
    if (members === undefined) return;
    const ids = records.map((record) => String(record.id));
    const counts = await countLinks(db, members, access.orgId, ids, access.userId);
    for (const record of records) record.member_count = counts.get(String(record.id)) ?? 0;
  },
};
