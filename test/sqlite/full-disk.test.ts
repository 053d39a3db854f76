// A disk that is really full: what is answered meanwhile, and what a start on it reports.
import { expect } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from '../support/on-sqlite.ts';
import { allIds, Place, post } from '../support/server-process.ts';

const place = new Place();
const STORE = join(import.meta.dir, '../../db/store.ts');
// A mount in here vanishes with its process, and its process with this one, whatever happens to the test.
const OWN_NAMESPACE = ['unshare', '--mount', '--pid', '--fork', '--kill-child'];
const canMount = Bun.spawnSync([...OWN_NAMESPACE, 'true'], { stderr: 'ignore' }).success;

/** Runs a shell script where the folder is a disk of three MB, with a copy of what was in it. */
const onSmallDisk = (folder: string, script: string) => [
  ...OWN_NAMESPACE,
  ...['sh', '-c'],
  `set -e; cp -r '${folder}' '${folder}.copy'; mount -t tmpfs -o size=3m tmpfs '${folder}'
   cp '${folder}.copy'/* '${folder}'; ${script}`,
];

const quoted = (command: readonly string[]) => command.map((word) => `'${word}'`).join(' ');

test.skipIf(!canMount)(
  'is a 503 that loses nothing acknowledged; with room again the same keys go through (needs root)',
  async () => {
    const folder = join(place.root, 'filled');
    const { db, key } = await place.database(folder);
    const { child, url } = await place.serve(db, (command) =>
      onSmallDisk(
        folder,
        `${quoted(command)} & while [ ! -e '${folder}.grow' ]; do sleep 0.02; done
         mount -o remount,size=64m '${folder}'; touch '${folder}.grown'; wait`,
      ),
    );
    const readiness = async () => (await fetch(`${url}/readyz`)).status;
    expect(await readiness()).toBe(200);
    const content = 'x'.repeat(50_000);
    const statuses: number[] = [];
    const acknowledged: string[] = [];
    for (let index = 0; index < 100; index++) {
      const reply = await post(url, key, '/notes', { title: 'T', content }, `note-${index}`);
      statuses.push(reply.status);
      if (reply.status === 201) acknowledged.push(reply.body.data.id);
      else {
        expect(reply.body.error.code).toBe('INTERNAL_ERROR');
        expect(Number(reply.headers.get('Retry-After'))).toBeGreaterThanOrEqual(1);
      }
      if (statuses.at(-1) === 503 && statuses.at(-2) === 503) break;
    }
    expect(statuses.at(-1)).toBe(503);
    expect(await readiness()).toBe(503);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect(acknowledged.length).toBeGreaterThan(3);
    expect((await allIds(url, key, 'notes')).toSorted()).toEqual(acknowledged.toSorted());
    await Bun.write(`${folder}.grow`, '');
    while (!existsSync(`${folder}.grown`)) await Bun.sleep(20);
    expect(await readiness()).toBe(200);
    for (let index = 0; index < statuses.length; index++) {
      const reply = await post(url, key, '/notes', { title: 'T', content }, `note-${index}`);
      expect(reply.status).toBe(201);
    }
    const all = await allIds(url, key, 'notes');
    expect(all).toHaveLength(statuses.length);
    for (const id of acknowledged) expect(all).toContain(id);
    child.kill('SIGTERM');
  },
  300_000,
);

test.skipIf(!canMount)('at a start is reported as such, and not as damage (needs root)', async () => {
  const folder = join(place.root, 'full');
  const { db } = await place.database(folder);
  const code = `const { openStore } = await import(${JSON.stringify(STORE)});
    for (const path of ${JSON.stringify([db, join(folder, 'new.db')])})
      await openStore(path).catch(({ message }) => console.log(message));`;
  await Bun.write(join(place.root, 'open.ts'), code);
  const script = `dd if=/dev/zero of='${folder}/fill' bs=4k 2>/dev/null || true
    ${quoted([process.execPath, join(place.root, 'open.ts')])}`;
  const child = Bun.spawnSync(onSmallDisk(folder, script));
  expect(child.stdout.toString().trim().split('\n')).toEqual(
    [db, join(folder, 'new.db')].map(
      (path) => `The database ${path} cannot be written because its disk is full.`,
    ),
  );
});
