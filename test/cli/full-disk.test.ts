// A disk that is really full where a command keeps its lock or its errors file: said once, with one way on, and nothing left.
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// A mount in here vanishes with its process.
const OWN_NAMESPACE = ['unshare', '--mount'];
const canMount = Bun.spawnSync([...OWN_NAMESPACE, 'true'], { stderr: 'ignore' }).success;
const PRODUCT = join(import.meta.dir, '../../cli');

const SCRIPT = `
  import { readdirSync, writeFileSync } from 'node:fs';
  import { lockBeside, lockWork } from '${PRODUCT}/files/work-lock.ts';
  import { ErrorsFile } from '${PRODUCT}/import/session/errors-file.ts';
  const told = [];
  const attempt = (work) => {
    try { work(); told.push(null); } catch ({ message, nextSteps }) { told.push([message, ...nextSteps]); }
  };
  try { for (let at = 0; ; at += 1) writeFileSync('fill' + at, Buffer.alloc(4096)); } catch {}
  attempt(() => lockWork({ path: lockBeside('out'), refusal: 'is at it', nextSteps: [] }));
  const errors = new ErrorsFile({ path: null, input: 'in.csv', format: 'csv', headers: ['a'], earlier: null });
  const row = { line: 2, entries: [['a', 'x']], original: ['x'], fault: null };
  attempt(() => errors.add(row, { code: 'X', path: 'a', message: 'm' }));
  console.log(JSON.stringify({ told, left: readdirSync('.').filter((name) => !name.startsWith('fill')) }));
`;

test.skipIf(!canMount)('a lock and an errors file say so, and nothing empty stays (needs root)', () => {
  const disk = mkdtempSync(join(tmpdir(), 'crm-full-'));
  try {
    const script = 'mount -t tmpfs -o size=64k tmpfs "$1" && cd "$1" && exec "$2" -e "$3"';
    const { stdout, stderr } = Bun.spawnSync([
      ...OWN_NAMESPACE,
      ...['sh', '-c', script, 'sh', disk, process.execPath, SCRIPT],
    ]);
    expect(stderr.toString()).toBe('');
    expect(JSON.parse(stdout.toString())).toEqual({
      told: [
        [
          expect.stringMatching(/^Cannot write the lock file .*out\.crm-lock: the disk is full\.$/),
          'free space there, or choose another place.',
        ],
        [
          expect.stringMatching(/^Cannot write rejected rows to .*in\.csv\.errors\.csv: the disk is full\.$/),
          'free space there, or add --errors FILE with another place.',
        ],
      ],
      left: [],
    });
  } finally {
    rmSync(disk, { recursive: true });
  }
});
