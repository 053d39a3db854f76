// A release: reproducible executables, a list of what is missing, and known vulnerabilities of packages.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };

const ROOT = join(import.meta.dir, '../..');
const folder = mkdtempSync(join(tmpdir(), 'crm-release-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function script(name: string, words: string[], env: Record<string, string> = {}) {
  const child = Bun.spawn([process.execPath, `cli/release/${name}.ts`, ...words], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, stdout, stderr };
}

const isTarget = process.platform === 'linux' && process.arch === 'x64';

test.skipIf(!isTarget)(
  'an executable, its bill and its licences are the same, byte for byte, when they are built again',
  async () => {
    const sums: string[] = [];
    for (const name of ['one', 'two']) {
      const out = join(folder, name);
      const { code, stderr } = await script('build-release', ['--only', 'linux-x64', '--out', out]);
      expect([code, stderr]).toEqual([0, expect.stringContaining('built    crm-')]);
      sums.push(readFileSync(join(out, 'SHA256SUMS'), 'utf8'));
    }
    expect(sums[0]).toBe(sums[1] ?? '');
    const names = ['linux-x64', 'licenses.txt'].map((end) => `crm-${manifest.version}-${end}`);
    const files = [...names, `crm-${manifest.version}.cdx.json`, 'SHA256SUMS'];
    expect(readdirSync(join(folder, 'one')).toSorted()).toEqual(files.toSorted());
    const check = Bun.spawnSync(['sha256sum', '--check', '--strict', '--quiet', 'SHA256SUMS'], {
      cwd: join(folder, 'one'),
    });
    expect(check.exitCode).toBe(0);
    const made = Bun.spawnSync([join(folder, 'one', names[0] ?? ''), 'version', '--sbom']);
    expect(made.stdout.toString()).toBe(readFileSync(join(folder, 'one', files[2] ?? ''), 'utf8'));
  },
  300_000,
);

test('what cannot be downloaded is named, and nothing says that the release is complete', async () => {
  const out = join(folder, 'offline');
  const nobody = 'http://127.0.0.1:1';
  const { code, stderr } = await script('build-release', ['--only', 'windows-x64', '--out', out], {
    BUN_INSTALL_CACHE_DIR: join(folder, 'empty'),
    HTTPS_PROXY: nobody,
    HTTP_PROXY: nobody,
  });
  expect(code).toBe(1);
  expect(stderr).toContain(`MISSING  crm-${manifest.version}-windows-x64.exe: `);
  expect(stderr).toContain('could not build windows-x64, so there is no SHA256SUMS');
  expect(readdirSync(out)).not.toContain('SHA256SUMS');
}, 300_000);

test('a target that there is not is refused', async () => {
  const { code, stderr } = await script('build-release', ['--only', 'amiga']);
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('Unknown target amiga. Known targets: linux-x64'),
  ]);
});

describe('advisories', () => {
  const advisory = (severity: string) => [
    { id: 1, url: 'https://example.com/1', title: 'Too trusting', severity, vulnerable_versions: '<99' },
  ];
  // Like the registry, it tells of those packages alone that it is asked about.
  let known: Record<string, object[]> = {};
  const registry = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const asked = Object.keys(JSON.parse(await unzipped(request)));
      return Response.json(
        Object.fromEntries(asked.flatMap((name) => (known[name] ? [[name, known[name]]] : []))),
      );
    },
  });
  beforeAll(() => {
    known = {};
  });
  afterAll(() => registry.stop(true));

  async function unzipped(request: Request): Promise<string> {
    const bytes = new Uint8Array(await request.arrayBuffer());
    return new TextDecoder().decode(bytes[0] === 0x1f ? Bun.gunzipSync(bytes) : bytes);
  }

  const run = (url = registry.url.href) => script('advisories', [], { NPM_CONFIG_REGISTRY: url });

  test('none is said to be none', async () => {
    known = {};
    expect(await run()).toMatchObject({ code: 0, stdout: 'advisories: none\n' });
  });

  test('a grave one against what ships fails', async () => {
    known = { elysia: advisory('high'), orval: advisory('critical') };
    const { code, stdout } = await run();
    expect(code).toBe(1);
    expect(stdout).toContain('high in elysia (shipped): Too trusting, https://example.com/1');
    expect(stdout).toContain('critical in orval (not in the executable)');
  });

  test('a grave one against what a package needs but the executable does not have is only reported', async () => {
    known = { hono: advisory('critical') };
    const { code, stdout } = await run();
    expect([code, stdout]).toEqual([0, expect.stringContaining('critical in hono (not in the executable)')]);
  });

  test('a grave one against tools, and a small one against what ships, are reported', async () => {
    known = { elysia: advisory('moderate'), orval: advisory('critical') };
    const { code, stdout } = await run();
    expect(code).toBe(0);
    expect(stdout.match(/^advisory: /gm)).toHaveLength(2);
  });

  test('a registry that cannot be asked is reported, and fails nothing', async () => {
    expect(await run('http://127.0.0.1:1/')).toMatchObject({
      code: 0,
      stdout: 'advisories: the registry could not be reached\n',
    });
  });
});
