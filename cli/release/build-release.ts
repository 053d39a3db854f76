// `bun run release`: builds an executable for each system, with digests, bill of materials and licenses.
import { existsSync, mkdirSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { hashFile } from '../files/digest.ts';
import { commitDefine, commitName, compileExecutable, runBun } from './compile.ts';
import { rebuildElsewhere } from './second-build.ts';
import { executableOf, type ReleaseTarget, TARGETS } from './targets.ts';

const NAMES = TARGETS.map(({ name }) => name);
const HELP = `bun run release [--out FOLDER] [--only NAME,NAME] [--check]

Builds an executable for each of: ${NAMES.join(', ')}.
  --out FOLDER   output folder, with SHA256SUMS, bill of materials and licenses (default: dist/release)
  --only NAMES   these alone
  --check        builds everything again in another folder, from a clean install, and compares`;

const SUMS = 'SHA256SUMS';

/** Hexadecimal SHA-256 of a file. */
function sha256Of(path: string): string {
  return hashFile(realpathSync(path)).digest('hex');
}

/** Builds the executable of a target; returns what went wrong, if anything. */
function makeExecutable(target: ReleaseTarget, outfile: string, cache: string): string | null {
  // Bun uses its own executable for the current system, and downloads others to its cache.
  const isOwn = sha256Of(process.execPath) === target.runtime;
  const runtime = isOwn ? process.execPath : join(cache, `${target.bun}-v${Bun.version}`);
  const partial = `${outfile}.part`;
  mkdirSync(partial, { recursive: true });
  try {
    // Compiled under its final name, which is embedded in it.
    const inside = join(partial, outfile.slice(outfile.lastIndexOf('/') + 1));
    const fault = compileExecutable({
      outfile: inside,
      target: { bun: target.bun, runtime: existsSync(runtime) ? runtime : undefined },
    });
    if (fault !== null) return fault;
    if (!existsSync(runtime) || sha256Of(runtime) !== target.runtime)
      return `its runtime, ${runtime}, is not that of Bun ${Bun.version}: delete it and try again`;
    renameSync(inside, outfile);
    return null;
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/** Writes licenses and bill of materials; the same for all systems. */
function writePapers(folder: string, name: string): string[] {
  const papers = { '--sbom': `${name}.cdx.json`, '--licenses': `${name}-licenses.txt` };
  return Object.entries(papers).map(([flag, file]) => {
    const { exitCode, stdout, stderr } = runBun([...commitDefine(), 'cli/main.ts', 'version', flag]);
    if (exitCode !== 0) throw new Error(`crm version ${flag} failed: ${stderr}`);
    writeFileSync(join(folder, file), stdout);
    return file;
  });
}

/** Builds the release; returns the missing targets, and the text of its digests. */
function makeRelease(folder: string, targets: readonly ReleaseTarget[]): { missing: string[]; sums: string } {
  mkdirSync(folder, { recursive: true });
  rmSync(join(folder, SUMS), { force: true });
  const cache = runBun(['pm', 'cache']).stdout.trim();
  const made: string[] = [];
  const missing: string[] = [];
  for (const target of targets) {
    const name = executableOf(target, manifest.version);
    const fault = makeExecutable(target, join(folder, name), cache);
    if (fault !== null) rmSync(join(folder, name), { force: true });
    if (fault === null) made.push(name);
    else missing.push(target.name);
    console.error(fault === null ? `built    ${name}` : `MISSING  ${name}: ${fault}`);
  }
  const files = [...made, ...writePapers(folder, `crm-${manifest.version}`)];
  const sums = files.map((file) => `${sha256Of(join(folder, file))}  ${file}\n`);
  return { missing, sums: sums.join('') };
}

function main(words: string[]): number {
  const { values } = parseArgs({
    args: words,
    options: {
      out: { type: 'string', default: 'dist/release' },
      only: { type: 'string' },
      check: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const names = values.only?.split(',') ?? NAMES;
  const unknown = names.filter((name) => !NAMES.includes(name));
  if (unknown.length > 0) {
    console.error(`Unknown target ${unknown.join(', ')}. Known targets: ${NAMES.join(', ')}.`);
    return 2;
  }
  const folder = resolve(values.out);
  const targets = TARGETS.filter(({ name }) => names.includes(name));
  const { missing, sums } = makeRelease(folder, targets);
  if (missing.length > 0) {
    console.error(
      `The release is incomplete: could not build ${missing.join(', ')}, so there is no ${SUMS}.`,
    );
    return 1;
  }
  const others = values.check ? rebuildElsewhere(['--only', names.join(',')], SUMS) : { sums };
  if (others.sums !== sums) {
    console.error(
      others.sums === null
        ? others.fault
        : `The second build differs:\n${others.sums}from this one:\n${sums}`,
    );
    return 1;
  }
  writeFileSync(join(folder, SUMS), sums);
  const twice = values.check ? ', built twice with the same result' : '';
  console.error(`crm ${manifest.version} (commit ${commitName()}) is in ${folder}${twice}.`);
  return 0;
}

if (import.meta.main) process.exit(main(process.argv.slice(2)));
