// Operator tasks on a database, apart from serving it: inspecting, checking, copying, replacing and scrubbing it.

export { removalStatement } from './postgres/organization-removal.ts';
export { findInPlannerStatistics, type PlannerValue } from './postgres/planner-values.ts';
export { examineServer, type ServerFacts } from './postgres/server-facts.ts';
export { type ByteMatch, findBytes } from './sqlite/byte-search.ts';
export { listTables, type TableShape } from './sqlite/catalog.ts';
export { FileCopy, ORIGINAL } from './sqlite/file-copy.ts';
export { examineFile, type FileFacts } from './sqlite/file-facts.ts';
export { damagedFileError as damaged, inspectFile } from './sqlite/integrity.ts';
export { readOnlyReason } from './sqlite/read-only-file.ts';
export { replaceDatabase } from './sqlite/replace-file.ts';
export { assertRestorable } from './sqlite/restore-source.ts';
export { emptyWal, freePages, scrubFreePages } from './sqlite/scrub.ts';
export { hasLockFile, lockPlace, removeLockFile } from './sqlite/serving-lock.ts';
