// What the lines of a run take from: the longest files one by one, then the others by the handful, ever fewer at a time.
import { LONGEST } from './files.ts';

/** Files of an engine that one process runs after each other. */
export interface Task<Engine> {
  engine: Engine;
  files: readonly string[];
}

// Fewer are not worth the second that a process takes to begin.
const FILES_MIN = 3;

/**
 * All files of all engines, once each, in the order in which they are to be begun. A process costs a second before its first
 * test, so that it gets as many files as leave enough for the other lines: they all end at about the same time.
 */
export function* tasksOf<Engine>(all: readonly Task<Engine>[], lines: number): Generator<Task<Engine>> {
  for (const path of LONGEST)
    for (const { engine, files } of all) if (files.includes(path)) yield { engine, files: [path] };
  const left = all.map(({ engine, files }) => ({
    engine,
    files: files.filter((path) => !LONGEST.includes(path)),
  }));
  for (;;) {
    const [most] = left.toSorted((a, b) => b.files.length - a.files.length);
    if (most === undefined || most.files.length === 0) return;
    const count = left.reduce((sum, { files }) => sum + files.length, 0);
    yield {
      engine: most.engine,
      files: most.files.splice(0, Math.max(FILES_MIN, Math.ceil(count / (2 * lines)))),
    };
  }
}
