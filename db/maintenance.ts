// What operators do to a database beside serving it: look into it, check, copy, replace and scrub it.

export { examineServer, type ServerFacts } from './postgres/examination.ts';
export { removalStatement } from './postgres/removal.ts';
export { findInStatistics } from './postgres/statistics-values.ts';
export { listTables, type TableShape } from './sqlite/catalog.ts';
export { examineFile, type FileFacts } from './sqlite/examination.ts';
export { FileCopy, ORIGINAL } from './sqlite/file-copy.ts';
export { type FoundBytes, findBytes } from './sqlite/found-bytes.ts';
export { damaged, inspectFile } from './sqlite/integrity.ts';
export { replaceDatabase } from './sqlite/replace-file.ts';
export { emptyLog, freePages, scrubFreePages } from './sqlite/scrub.ts';
export { assertRestorable } from './sqlite/source-file.ts';
