// `bun run release`: builds an executable for each system, with digests, bill of materials and licenses.
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { commitDefine, commitName, compileExecutable, runBun } from './compile.ts';
import { rebuildElsewhere } from './second-build.ts';
import { executableOf, type ReleaseTarget, TARGETS } from './targets.ts';

const HELP = `bun run release [--out FOLDER] [--only NAME,NAME] [--check]

Builds an executable for each of: ${TARGETS.map(({ name }) => name).join(', ')}.
  --out FOLDER   output folder, with SHA256SUMS, bill of materials and licenses (default: dist/release)
  --only NAMES   these alone
  --check        builds everything again in another folder, from a clean install, and compares`;

const SUMS = 'SHA256SUMS';

/** Hexadecimal SHA-256 of a file. */
async function sha256Of(path: string): Promise<string> {
  const hash = new Bun.CryptoHasher('sha256');
  for await (const chunk of Bun.file(path).stream()) hash.update(chunk);
  return hash.digest('hex');
}

/** Builds the executable of a target; resolves with what went wrong, if anything. */
async function makeExecutable(target: ReleaseTarget, outfile: string, cache: string): Promise<string | null> {
  // Bun uses its own executable for the current system, and downloads others to its cache.
  const isOwn = (await sha256Of(process.execPath)) === target.runtime;
  const runtime = isOwn ? process.execPath : join(cache, `${target.bun}-v${Bun.version}`);
  const partial = `${outfile}.part`;
  const at = () => ({ bun: target.bun, runtime: existsSync(runtime) ? runtime : undefined });
  mkdirSync(partial, { recursive: true });
  try {
    // Compiled under its final name, which is embedded in it.
    const inside = join(partial, outfile.slice(outfile.lastIndexOf('/') + 1));
    const fault = compileExecutable({ outfile: inside, target: at() });
    if (fault !== null) return fault;
    if (!existsSync(runtime) || (await sha256Of(runtime)) !== target.runtime)
      return `its runtime, ${runtime}, is not that of Bun ${Bun.version}: delete it and try again`;
    renameSync(inside, outfile);
    return null;
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/** Writes licenses and bill of materials; the same for all systems. */
function writePapers(folder: string, name: string): string[] {
  const papers = [
    { file: `${name}.cdx.json`, flag: '--sbom' },
    { file: `${name}-licenses.txt`, flag: '--licenses' },
  ];
  return papers.map(({ file, flag }) => {
    const { exitCode, stdout, stderr } = runBun([...commitDefine(), 'cli/main.ts', 'version', flag]);
    if (exitCode !== 0) throw new Error(`crm version ${flag} failed: ${stderr}`);
    writeFileSync(join(folder, file), stdout);
    return file;
  });
}

/** Builds the release; resolves with the missing targets, and the text of its digests. */
async function makeRelease(
  folder: string,
  targets: readonly ReleaseTarget[],
): Promise<{ missing: string[]; sums: string }> {
  mkdirSync(folder, { recursive: true });
  rmSync(join(folder, SUMS), { force: true });
  const cache = runBun(['pm', 'cache']).stdout.trim();
  const made: string[] = [];
  const missing: string[] = [];
  for (const target of targets) {
    const name = executableOf(target, manifest.version);
    const fault = await makeExecutable(target, join(folder, name), cache);
    if (fault === null) made.push(name);
    else {
      rmSync(join(folder, name), { force: true });
      missing.push(target.name);
    }
    console.error(fault === null ? `built    ${name}` : `MISSING  ${name}: ${fault}`);
  }
  const files = [...made, ...writePapers(folder, `crm-${manifest.version}`)];
  const lines = await Promise.all(
    files.map(async (file) => `${await sha256Of(join(folder, file))}  ${file}\n`),
  );
  return { missing, sums: lines.join('') };
}

async function main(words: string[]): Promise<number> {
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
  const names = values.only?.split(',') ?? TARGETS.map(({ name }) => name);
  const unknown = names.filter((name) => TARGETS.every((target) => target.name !== name));
  if (unknown.length > 0) {
    console.error(
      `Unknown target ${unknown.join(', ')}. Known targets: ${TARGETS.map(({ name }) => name).join(', ')}.`,
    );
    return 2;
  }
  const folder = resolve(values.out);
  const targets = TARGETS.filter(({ name }) => names.includes(name));
  const { missing, sums } = await makeRelease(folder, targets);
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

if (import.meta.main) process.exit(await main(process.argv.slice(2)));
