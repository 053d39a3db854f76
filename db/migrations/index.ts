// The static list of migrations, in order; a landed one is never edited.
import type { Migration } from 'kysely';
import * as initial from './0001-initial.ts';
import * as auditLog from './0002-audit-log.ts';
import * as keyRules from './0003-key-rules.ts';
import * as quotas from './0004-quotas.ts';
import * as storedAnswers from './0005-stored-answers.ts';

export const MIGRATIONS: Record<string, Migration> = {
  '0001-initial': initial,
  '0002-audit-log': auditLog,
  '0003-key-rules': keyRules,
  '0004-quotas': quotas,
  '0005-stored-answers': storedAnswers,
};

/**
 * Those that only add what a crm without them can leave alone: while several serve one database, it may go on until it
 * is replaced. All others stop it at its next start.
 */
export const EXPANDING: ReadonlySet<string> = new Set([
  '0002-audit-log',
  '0003-key-rules',
  '0004-quotas',
  '0005-stored-answers',
]);
