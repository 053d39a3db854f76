// Lists the components of the executable: every package that our packages need at run time, found while compiling.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A package whose code may be in the executable. */
export interface Component {
  name: string;
  version: string;
  /** SPDX expression from the package. */
  licence: string;
  /** Text of its license; '' if the package has none. */
  text: string;
  /** SHA-512 of the package in the registry, base64. */
  sha512: string;
}

interface Locked {
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  optionalPeers?: string[];
}

type Lock = Record<string, [identity: string, registry: string, needs: Locked, integrity: string]>;

const ROOT = join(import.meta.dir, '../..');

/** Packages for development that are compiled in: Ink and debug import them where they find them. */
const COMPILED_IN = ['react-devtools-core', 'supports-color'];

/** Packages of which only a part is compiled in: what that part needs. A test compares it with what is compiled. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  // A server on stdio, without those over HTTP.
  '@modelcontextprotocol/sdk': ['ajv', 'ajv-formats', 'zod', 'zod-to-json-schema'],
  // A bundle that contains what it needs.
  'react-devtools-core': [],
};

/** Reads the lockfile and the installed packages, sorted by name. */
export function inventory(): Component[] {
  const manifest: { dependencies: Record<string, string> } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  );
  const { packages }: { packages: Lock } = JSON.parse(
    // The lockfile has trailing commas.
    readFileSync(join(ROOT, 'bun.lock'), 'utf8').replace(/,(?=\s*[\]}])/g, ''),
  );
  const needed = new Set<string>();
  const follow = (name: string, from: string): void => {
    const place = placeOf(packages, name, from);
    if (place === undefined || needed.has(place)) return;
    needed.add(place);
    const { dependencies, peerDependencies, optionalPeers = [] } = packages[place]?.[2] ?? {};
    for (const one of PARTS[name] ?? Object.keys({ ...dependencies, ...peerDependencies })) {
      if (!optionalPeers.includes(one)) follow(one, place);
    }
  };
  for (const name of [...Object.keys(manifest.dependencies), ...COMPILED_IN]) follow(name, '');
  const components = [...needed].flatMap((place) => componentOf(packages, place) ?? []);
  return [...new Map(components.map((one) => [`${one.name}@${one.version}`, one])).values()].sort(byName);
}

// A package finds another one in its own folder, or in those that contain it.
function placeOf(packages: Lock, name: string, from: string): string | undefined {
  for (let holder = from; holder !== '.' && holder !== ''; holder = dirname(holder)) {
    if (packages[`${holder}/${name}`] !== undefined) return `${holder}/${name}`;
  }
  return packages[name] === undefined ? undefined : name;
}

function componentOf(packages: Lock, place: string): Component | undefined {
  const [identity = '', , , integrity = ''] = packages[place] ?? [];
  const at = identity.lastIndexOf('@');
  const name = identity.slice(0, at);
  const folder = folderOf(place);
  // Packages for another system are not installed.
  if (!existsSync(folder)) return undefined;
  const { license }: { license?: string | { type: string } } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  );
  return {
    name,
    version: identity.slice(at + 1),
    licence: (typeof license === 'object' ? license.type : license) ?? 'NOASSERTION',
    text: licenceText(folder),
    sha512: integrity.replace(/^sha512-/, ''),
  };
}

// `a/b` is in node_modules/a/node_modules/b; a scope is part of a name.
function folderOf(place: string): string {
  const names: string[] = [];
  let rest = place;
  while (rest !== '') {
    const name = rest.startsWith('@') ? rest.split('/', 2).join('/') : (rest.split('/', 1)[0] ?? '');
    names.push(name);
    rest = rest.slice(name.length + 1);
  }
  return join(ROOT, ...names.flatMap((name) => ['node_modules', name]));
}

function licenceText(folder: string): string {
  const file = readdirSync(folder).find((name) => /^licen[cs]e(?:\.(?:md|txt))?$/i.test(name));
  return file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim();
}

function byName(one: Component, other: Component): number {
  return one.name < other.name ? -1 : 1;
}
