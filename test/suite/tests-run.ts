// Runs test files by `bun test` in processes of their own, with each line named after what it is about.
import { addUp, Listener, type Tally } from './tally.ts';

// On a machine whose cores are taken, what takes a second alone can take ten.
const TEST_MS_MAX = 120_000;

export interface TestsRun {
  /** Stands before each line. */
  name: string;
  files: readonly string[];
  /** How many files run at a time. */
  workers: number;
  /** A file that tells which files take longest. */
  timings: string;
  env: Readonly<Record<string, string>>;
}

/** Those that run now, to be ended with this process. */
export const running = new Set<Bun.Subprocess>();

/** Runs test files to their end; whatever one of them leaves running ends too. */
export async function runTests({ name, files, workers, timings, env }: TestsRun): Promise<Tally> {
  // Without names of files, all would run.
  if (files.length === 0) return addUp([]);
  const startedMs = performance.now();
  const parallel = workers > 1 ? [`--parallel=${workers}`, '--no-isolate', `--timings=${timings}`] : [];
  const options = ['--only-failures', '--no-orphans', `--timeout=${TEST_MS_MAX}`, ...parallel];
  const child = Bun.spawn([process.execPath, 'test', ...options, ...files.map((path) => `./${path}`)], {
    env: { ...process.env, ...env },
    ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
  });
  running.add(child);
  const listener = new Listener();
  const say = (line: string) => console.log(`${name} | ${line}`);
  const read = async (stream: ReadableStream<Uint8Array>) => {
    for await (const line of linesOf(stream)) {
      const shown = listener.hear(line);
      if (shown !== null) say(shown);
    }
  };
  await Promise.all([read(child.stdout), read(child.stderr)]);
  const code = await child.exited;
  running.delete(child);
  const tally = listener.tally(code);
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  say(
    `${tally.passed} passed, ${tally.skipped} skipped, ${tally.failed} failed in ${seconds} s (code ${code})`,
  );
  return tally;
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}
