// Builds a release again from the same files, in another folder and from a clean install, to check that it is reproducible.
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { commitName, REPOSITORY, runProgram } from './compile.ts';

/** The digests of the second build; null, with the reason, if it failed. */
export function rebuildElsewhere(
  words: readonly string[],
  sumsName: string,
): { sums: string } | { sums: null; fault: string } {
  const folder = mkdtempSync(join(tmpdir(), 'crm-second-build-'));
  try {
    const files = runProgram(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard']);
    if (files.exitCode !== 0) return { sums: null, fault: `A second build needs git: ${files.stderr}` };
    for (const file of files.stdout.split('\0').filter((name) => name !== '')) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      copyFileSync(join(REPOSITORY, file), join(folder, file));
    }
    const env = { ...process.env, CRM_COMMIT: commitName() };
    for (const step of [
      ['install', '--frozen-lockfile', '--no-summary', '--ignore-scripts'],
      ['cli/release/build-release.ts', '--out', join(folder, 'out'), ...words],
    ]) {
      const { exitCode, stderr } = Bun.spawnSync([process.execPath, ...step], { cwd: folder, env });
      if (exitCode !== 0) return { sums: null, fault: `The second build failed:\n${stderr}` };
    }
    return { sums: readFileSync(join(folder, 'out', sumsName), 'utf8') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
