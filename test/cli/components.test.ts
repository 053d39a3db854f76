// What the executable is made of: every package that runs in it, with its licence, as a CycloneDX bill of materials and as text.
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { Sandbox } from '../support/command.ts';

// The last package in the path of a module.
const PACKAGE = /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/;

interface Bill {
  bomFormat: string;
  specVersion: string;
  components: {
    name: string;
    version: string;
    purl: string;
    licenses: object[];
    hashes?: { content: string }[];
  }[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

test('the bill of materials has every package that runs, and none that only builds or tests', async () => {
  using sandbox = new Sandbox();
  const bill: Bill = JSON.parse(await sandbox.ok(['version', '--sbom']));
  expect([bill.bomFormat, bill.specVersion]).toEqual(['CycloneDX', '1.6']);
  const versions = new Map(bill.components.map(({ name, version }) => [name, version]));
  for (const [name, version] of Object.entries(manifest.dependencies))
    expect(versions.get(name)).toBe(version);
  expect(versions.get('bun')).toBe(Bun.version);
  for (const name of ['typescript', '@biomejs/biome', 'orval', 'playwright-core'])
    expect(versions.has(name)).toBe(false);
  const refs = bill.components.map(({ purl }) => purl);
  expect(new Set(refs).size).toBe(refs.length);
  expect(bill.dependencies).toEqual([{ ref: 'crm', dependsOn: refs }]);
  for (const { hashes } of bill.components.slice(1)) expect(hashes?.[0]?.content).toMatch(/^[0-9a-f]{128}$/);
});

test('licences are reported with their texts, each once', async () => {
  using sandbox = new Sandbox();
  const text = await sandbox.ok(['version', '--licenses']);
  expect(text).toStartWith('crm ');
  expect(text).toContain('ical.js@2.2.1  MPL-2.0');
  expect(text).toContain('Mozilla Public License');
  expect(text).toContain('JavaScriptCore');
  expect(text).not.toContain('NOASSERTION');
});

test('every package that is compiled in is reported, and of the SDK for assistants nothing of its servers over HTTP', async () => {
  using sandbox = new Sandbox();
  const metafile = sandbox.path('meta.json');
  const options = ['--target=bun', '--splitting', '--format=esm', `--metafile=${metafile}`];
  const words = [process.execPath, 'build', ...options, '--outdir', sandbox.path('out'), 'cli/main.ts'];
  const { exitCode, stderr } = Bun.spawnSync(words, { cwd: join(import.meta.dir, '../..'), stderr: 'pipe' });
  expect([exitCode, stderr.toString()]).toEqual([0, expect.any(String)]);
  const { outputs }: { outputs: Record<string, { inputs: Record<string, object> }> } =
    await Bun.file(metafile).json();
  const paths = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs));
  const compiled = new Set(paths.flatMap((path) => PACKAGE.exec(path)?.slice(1) ?? []));
  const bill: Bill = JSON.parse(await sandbox.ok(['version', '--sbom']));
  const reported = new Set(bill.components.map(({ name }) => name));
  expect([...compiled.difference(reported)]).toEqual([]);
  expect(compiled).toContain('@modelcontextprotocol/sdk');
  for (const name of ['express', 'hono', 'jose', 'cors'])
    expect([name, compiled.has(name), reported.has(name)]).toEqual([name, false, false]);
});
