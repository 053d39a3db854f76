// What the lines of a run take from: the longest files one by one, the others by the handful, ever fewer at a time.
import { ALONE, LONGEST } from './files.ts';

/** Files of an engine that one process runs after each other. */
export interface Task<Engine> {
  engine: Engine;
  files: readonly string[];
}

// Fewer are not worth the second that a process takes to begin.
const FILES_MIN = 4;

/**
 * All files of all engines, once each, in the order in which they are to be begun: in turn one of the longest, which mostly
 * wait, and as many others as leave enough for the other lines, which mostly compute. They all end at about the same time.
 */
export function* tasksOf<Engine>(all: readonly Task<Engine>[], lines: number): Generator<Task<Engine>> {
  const groups = groupsOf(all, lines);
  for (const long of oneByOne(all, LONGEST)) {
    yield long;
    const group = groups.next();
    if (!group.done) yield group.value;
  }
  yield* groups;
}

/** What is to have a core to itself, in the order in which it is to be begun. */
export const soloTasksOf = <Engine>(all: readonly Task<Engine>[]): Task<Engine>[] => oneByOne(all, ALONE);

function oneByOne<Engine>(all: readonly Task<Engine>[], paths: readonly string[]): Task<Engine>[] {
  return paths.flatMap((path) =>
    all.filter(({ files }) => files.includes(path)).map(({ engine }) => ({ engine, files: [path] })),
  );
}

function* groupsOf<Engine>(all: readonly Task<Engine>[], lines: number): Generator<Task<Engine>> {
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
