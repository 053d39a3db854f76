// How an executable is compiled, the same for one's own machine and for a release.
import { join } from 'node:path';

/** The repository that this file lies in. */
export const REPOSITORY = join(import.meta.dir, '../..');

interface Compilation {
  /** The executable; its name, and no more of its path, is a part of what comes out. */
  outfile: string;
  /** As `bun build --target` has it, and the file of its runtime unless Bun is to get that; this machine's if not given. */
  target?: { bun: string; runtime: string | undefined };
}

/** Compiles the repository; gives what Bun said where that failed, else null. */
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
    ...['--compile', '--bytecode', '--format=esm'],
    ...['--no-compile-autoload-dotenv', '--no-compile-autoload-bunfig'],
    ...commitDefine(),
    ...forTarget,
    ...['cli/main.ts', '--outfile', outfile],
  ]);
  return exitCode === 0 ? null : `${stderr}${stdout}`.trim();
}

/** What has `crm version` know the commit. */
export function commitDefine(): string[] {
  return ['--define', `CRM_COMMIT=${JSON.stringify(commitName())}`];
}

/** The commit that CRM_COMMIT names, else git's, with `-modified` where files are not as they were committed, else `unknown`. */
export function commitName(): string {
  if (process.env.CRM_COMMIT !== undefined) return process.env.CRM_COMMIT;
  const hash = runProgram(['git', 'rev-parse', '--short=12', 'HEAD']);
  if (hash.exitCode !== 0) return 'unknown';
  const changes = runProgram(['git', 'status', '--porcelain', '--untracked-files=no']);
  return `${hash.stdout.trim()}${changes.stdout.trim() === '' ? '' : '-modified'}`;
}

/** Runs this very Bun in the repository. */
export function runBun(words: readonly string[]) {
  return runProgram([process.execPath, ...words]);
}

/** Runs a program in the repository; one that cannot be started has failed. */
export function runProgram(words: readonly string[]) {
  try {
    const { exitCode, stdout, stderr } = Bun.spawnSync([...words], { cwd: REPOSITORY });
    return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
  } catch (error) {
    return { exitCode: 127, stdout: '', stderr: String(error) };
  }
}
