// The list of migrations, in order; a released migration is never edited.
import type { Migration } from 'kysely';
import * as initial from './0001-initial.ts';
import * as auditLog from './0002-audit-log.ts';
import * as keyRules from './0003-key-rules.ts';
import * as quotas from './0004-quotas.ts';
import * as storedAnswers from './0005-stored-answers.ts';
import * as externalIds from './0006-external-ids.ts';
import * as linksInBulk from './0007-links-in-bulk.ts';
import * as changes from './0008-changes.ts';
import * as webhooks from './0009-webhooks.ts';
import * as backfills from './0010-backfills.ts';
import * as search from './0011-search.ts';
import * as timeline from './0012-timeline.ts';
import * as query from './0013-query.ts';
import * as searchRuns from './0014-search-runs.ts';
import * as requestLimits from './0015-request-limits.ts';
import * as timelineChanges from './0016-timeline-changes.ts';

export const MIGRATIONS: Record<string, Migration> = {
  '0001-initial': initial,
  '0002-audit-log': auditLog,
  '0003-key-rules': keyRules,
  '0004-quotas': quotas,
  '0005-stored-answers': storedAnswers,
  '0006-external-ids': externalIds,
  '0007-links-in-bulk': linksInBulk,
  '0008-changes': changes,
  '0009-webhooks': webhooks,
  '0010-backfills': backfills,
  '0011-search': search,
  '0012-timeline': timeline,
  '0013-query': query,
  '0014-search-runs': searchRuns,
  '0015-request-limits': requestLimits,
  '0016-timeline-changes': timelineChanges,
};

/**
 * Migrations that only add what a crm without them can ignore: while several servers share a database, older ones can
 * continue until they are replaced. All other migrations keep an older crm from starting.
 */
export const EXPANDING: ReadonlySet<string> = new Set([
  '0002-audit-log',
  '0003-key-rules',
  '0004-quotas',
  '0005-stored-answers',
  '0006-external-ids',
  '0007-links-in-bulk',
  '0009-webhooks',
  '0010-backfills',
  '0013-query',
  '0015-request-limits',
]);
