// Compiles an executable, in the same way for this machine and for a release.
import { join } from 'node:path';

/** The repository of this file. */
export const REPOSITORY = join(import.meta.dir, '../..');

interface Compilation {
  /** Path of the executable; only its name is embedded in it. */
  outfile: string;
  /** Target of `bun build --target`, with the file of its runtime unless Bun downloads it; this machine by default. */
  target?: { bun: string; runtime: string | undefined };
}

/** Compiles the repository; resolves with Bun's message if that failed, else null. */
export function compileExecutable({ outfile, target }: Compilation): string | null {
  const forTarget =
    target === undefined
      ? []
      : [
          `--target=${target.bun}`,
          ...(target.runtime === undefined ? [] : [`--compile-executable-path=${target.runtime}`]),
        ];
  const { exitCode, stdout, stderr } = runBun([
    'build',
    // Each command loads its own part: a command starts in half the time that the whole takes.
    ...['--compile', '--splitting', '--bytecode', '--format=esm'],
    ...['--no-compile-autoload-dotenv', '--no-compile-autoload-bunfig'],
    // Else React and others would be built as for development.
    ...['--define', 'process.env.NODE_ENV="production"'],
    ...commitDefine(),
    ...forTarget,
    ...['cli/main.ts', '--outfile', outfile],
  ]);
  return exitCode === 0 ? null : `${stderr}${stdout}`.trim();
}

/** The define that tells `crm version` the commit. */
export function commitDefine(): string[] {
  return ['--define', `CRM_COMMIT=${JSON.stringify(commitName())}`];
}

/** The commit that CRM_COMMIT names, else git's, with `-modified` if files have changed, else `unknown`. */
export function commitName(): string {
  if (process.env.CRM_COMMIT !== undefined) return process.env.CRM_COMMIT;
  const hash = runProgram(['git', 'rev-parse', '--short=12', 'HEAD']);
  if (hash.exitCode !== 0) return 'unknown';
  const changes = runProgram(['git', 'status', '--porcelain', '--untracked-files=no']);
  return `${hash.stdout.trim()}${changes.stdout.trim() === '' ? '' : '-modified'}`;
}

/** Runs the current Bun in the repository. */
export function runBun(words: readonly string[]) {
  return runProgram([process.execPath, ...words]);
}

/** Runs a program in the repository; failing to start counts as failed. */
export function runProgram(words: readonly string[]) {
  try {
    const { exitCode, stdout, stderr } = Bun.spawnSync([...words], { cwd: REPOSITORY });
    return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
  } catch (error) {
    return { exitCode: 127, stdout: '', stderr: String(error) };
  }
}
