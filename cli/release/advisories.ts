// `bun run advisories`: checks our packages for security advisories; shipped packages must not have a serious one.
import { inventory } from './inventory.ts';

/** What `bun audit` reports for a package. */
interface Advisory {
  url: string;
  title: string;
  severity: string;
}

type Report = Record<string, Advisory[]>;

const PATIENCE_MS = 60_000;
const GRAVE = ['high', 'critical'];

/** The advisories for packages of the lockfile; null if the registry is unreachable. */
async function report(flags: readonly string[]): Promise<Report | null> {
  const asked = Bun.spawn([process.execPath, 'audit', '--json', ...flags], {
    stdout: 'pipe',
    stderr: 'ignore',
    timeout: PATIENCE_MS,
  });
  // Its exit code is 1 for both, an advisory and a failure.
  const text = await asked.stdout.text();
  try {
    const found: Report = JSON.parse(text);
    return Object.values(found).every(Array.isArray) ? found : null;
  } catch {
    return null;
  }
}

function linesOf(found: Report, where: string): string[] {
  return Object.entries(found).flatMap(([name, advisories]) =>
    advisories.map(({ severity, title, url }) => `${severity} in ${name} (${where}): ${title}, ${url}`),
  );
}

async function main(): Promise<number> {
  const [needed, all] = await Promise.all([report(['--production']), report([])]);
  if (needed === null || all === null) {
    console.log('advisories: the registry could not be reached');
    return 0;
  }
  // Not all that our packages need is compiled in.
  const components = new Set(inventory().map(({ name }) => name));
  const shipped = Object.fromEntries(Object.entries(needed).filter(([name]) => components.has(name)));
  const others = Object.fromEntries(Object.entries(all).filter(([name]) => shipped[name] === undefined));
  const lines = [...linesOf(shipped, 'shipped'), ...linesOf(others, 'not in the executable')];
  for (const line of lines) console.log(`advisory: ${line}`);
  if (lines.length === 0) console.log('advisories: none');
  const isGrave = Object.values(shipped).some((some) =>
    some.some(({ severity }) => GRAVE.includes(severity)),
  );
  return isGrave ? 1 : 0;
}

if (import.meta.main) process.exit(await main());
