// Runs test files by `bun test` in a process of their own, with each line named after what it is about.
import { Listener, type Tally } from './tally.ts';

// On a machine whose cores are taken, what takes a second alone can take twenty.
const TEST_MS_MAX = 300_000;
// These processes end before JavaScriptCore's last compiler has paid off, and before it has paid off to give memory back; they
// take a tenth less processor time without its concurrent collector, and a twentieth less if they compile later and neither
// collect nor touch new memory in further threads, for which there is no core. Servers and commands run as users have them
// where they get an environment of their own.
const FOR_SHORT_PROCESSES = {
  BUN_JSC_thresholdForJITAfterWarmUp: '1000',
  BUN_JSC_thresholdForJITSoon: '300',
  BUN_JSC_useFTLJIT: '0',
  BUN_JSC_useConcurrentGC: '0',
  BUN_JSC_numberOfGCMarkers: '1',
  BUN_JSC_useWarmUpMarkedBlocks: '0',
  MIMALLOC_PURGE_DELAY: '-1',
};
const OPTIONS = ['--only-failures', '--no-orphans', `--timeout=${TEST_MS_MAX}`];

export interface TestsRun {
  /** Stands before each line. */
  name: string;
  /** At least one: without names of files, all would run. */
  files: readonly string[];
  env: Readonly<Record<string, string>>;
}

/** How a run went. */
export interface Run {
  tally: Tally;
  /** The files with failed tests; null if none failed, or something that belongs to no test. */
  failedFiles: string[] | null;
}

/** Those that run now, to be ended with this process. */
export const running = new Set<Bun.Subprocess>();

/** Runs test files one after another to their end; whatever one of them leaves running ends too. */
export async function runTests({ name, files, env }: TestsRun): Promise<Run> {
  const child = Bun.spawn([process.execPath, 'test', ...OPTIONS, ...files.map((path) => `./${path}`)], {
    env: { ...process.env, ...FOR_SHORT_PROCESSES, ...env },
    ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
  });
  running.add(child);
  const listener = new Listener();
  const read = async (stream: ReadableStream<Uint8Array>) => {
    for await (const line of linesOf(stream)) {
      const shown = listener.hear(line);
      // Each process has blank lines, even where it has nothing to say.
      if (shown !== null && shown !== '') console.log(`${name} | ${shown}`);
    }
  };
  await Promise.all([read(child.stdout), read(child.stderr)]);
  const code = await child.exited;
  running.delete(child);
  // By itself it says nothing of an end before its last test.
  if (code !== 0) console.log(`${name} | code ${code}: ${files.join(' ')}`);
  return { tally: listener.tally(code), failedFiles: listener.failedFiles() };
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
