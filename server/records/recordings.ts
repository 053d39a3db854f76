// Recordings: getting one issues a fresh link to its transcript; lists never do.
import type { Rules } from './rules.ts';

export const recordingRules: Rules = {
  showOne({ access, transcriptLinks, baseUrl, now }, recording) {
    if (recording.has_transcript !== true) return recording;
    const id = String(recording.id);
    return { ...recording, transcript_url: transcriptLinks.issue(baseUrl, { orgId: access.orgId, id }, now) };
  },
};
