// Erasing a person while others write: nothing is left of the person in the log of changes, in the file, or in its own log.
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { FeedLoad } from '../soak/feed/load.ts';
import { Sandbox } from '../support/command.ts';
import { isPostgres } from '../support/fresh-databases.ts';
import { httpClient } from '../support/http-client.ts';
import type { Client } from '../support/v2.ts';

const EMAIL = 'ada.h@hidden.example';
// Personal values without the address beside them. In the end, only the log of changes still contains them.
const FORMER = 'Unforgettable';
const RENAMED = 'Inimitable';
const HIDDEN = [EMAIL, FORMER, RENAMED];
const LONG = 300_000;

const sandbox = await Sandbox.withDatabase();

async function leaveTraces(api: Client): Promise<void> {
  const former = await api.create('contacts', { email: EMAIL, first_name: FORMER });
  await api.update('contacts', former.id, { first_name: 'Maria' });
  await api.del(`/contacts/${former.id}`);
  const ada = await api.create('contacts', { email: EMAIL, first_name: 'Ada', title: RENAMED });
  const deal = await api.create('deals', { name: 'D', point_of_contact_id: ada.id });
  await api.post(`/deals/${deal.id}/contacts`, { contact_id: ada.id });
  await api.update('contacts', ada.id, { title: null });
  const note = await api.create('notes', { title: 'N', content: `Write to ${EMAIL}.` });
  await api.update('notes', note.id, { content: 'Nothing to say.' });
  const task = await api.create('tasks', { name: `Call ${EMAIL}` });
  await api.del(`/tasks/${task.id}`);
}

const textOf = async (url: string, key: string) => {
  const changes = await httpClient(url, key).all('/changes');
  return JSON.stringify(changes);
};
const fileText = () =>
  ['crm.db', 'crm.db-wal'].map((name) => readFileSync(sandbox.path(name), 'latin1')).join('');

test(
  'leaves nothing of the person, and every change of the others',
  async () => {
    const { url, stop } = await sandbox.serveOrganization('Acme');
    const key = sandbox.env.CRM_API_KEY ?? '';
    await leaveTraces(httpClient(url, key));
    for (const hidden of HIDDEN) {
      expect(await textOf(url, key)).toContain(hidden);
      if (!isPostgres) expect(fileText()).toContain(hidden);
    }
    const load = new FeedLoad({ urls: [url], key, users: [], clients: 3, pauseMs: 5, seed: 6 });
    const erasure = await sandbox.crm(['people', 'erase', EMAIL, '--confirm', '--quiet', '-o', 'json']);
    const files = isPostgres ? '' : fileText();
    await load.end();
    expect([erasure.code, JSON.parse(erasure.stdout).left]).toEqual([0, []]);
    const log = await textOf(url, key);
    for (const hidden of HIDDEN) for (const text of [files, log]) expect(text).not.toContain(hidden);
    expect([load.unexpected, load.failures]).toEqual([[], 0]);
    expect(load.acknowledged.size).toBeGreaterThan(0);
    for (const id of load.acknowledged) expect(log).toContain(id);
    await stop();
    await sandbox[Symbol.asyncDispose]();
  },
  LONG,
);
