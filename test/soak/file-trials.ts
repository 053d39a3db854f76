// `crm backup` and `crm restore` as they are to be interrupted: what may lie there afterwards.
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { BINARY } from '../support/command.ts';
import { contentOf } from './database-content.ts';
import type { Trial } from './interrupted.ts';
import { createContacts, Node, runOnce } from './service.ts';

const KEEP = 3;
const CONTACTS = 60;

/** The trials, with what they need in folders below `root`. */
export async function fileTrials(root: string): Promise<Trial[]> {
  const template = join(root, 'databases');
  mkdirSync(template);
  const db = join(template, 'crm.db');
  const key = await runOnce(['init', '--org', 'Soak', '--db', db]);
  const contents: string[] = [];
  const backUp = async (...words: string[]) => {
    await writeKilled(db, key, `kept${contents.length}`);
    await runOnce(['backup', ...words, '--db', db]);
    contents.push(contentOf(db));
  };
  await backUp(join(template, 'other.db'));
  for (let count = 0; count < KEEP; count++) await backUp(join(template, 'kept.db'), '--keep', String(KEEP));
  // What was acknowledged last stands in the log alone.
  await writeKilled(db, key, 'last');
  return [
    backupTrial(template, contentOf(db), contents.slice(1)),
    restoreTrial(template, contentOf(db), contents[0] ?? ''),
    newPlaceTrial(template, contents[0] ?? ''),
  ];
}

async function writeKilled(db: string, key: string, name: string): Promise<void> {
  const node = await Node.start(db, []);
  await createContacts(node.url, key, CONTACTS, name);
  await node.kill();
}

function backupTrial(template: string, current: string, older: readonly string[]): Trial {
  const words = ['backup', 'kept.db', '--keep', String(KEEP), '--db', 'crm.db', '--quiet'];
  const faultsAfter = (folder: string, lost = 1) => {
    const found = backupsIn(folder);
    const unknown = found.filter((content) => content !== current && !older.includes(content));
    // The oldest goes for what is newer.
    const missing = older.slice(lost).filter((content) => !found.includes(content));
    return [
      ...unknown.map((content) => `an unknown backup: ${content}`),
      ...missing.map(() => 'an older backup is missing'),
      ...(namesIn(folder, /^kept\.db$/).length === 1 ? [] : ['no backup has the name']),
      ...changed('the database', contentIn(folder, 'crm.db'), [current]),
    ];
  };
  return {
    name: `crm backup --keep ${KEEP}`,
    template,
    command: [BINARY, ...words],
    faultsAfter: (folder) => faultsAfter(folder),
    again: async (folder) => {
      await opened(folder, 'crm.db');
      await again(folder, words);
      const names = namesIn(folder, /^kept\.db/).join();
      return [
        ...(names === 'kept.db,kept.db.1,kept.db.2' ? [] : [`there are ${names}`]),
        ...changed('the backup', contentIn(folder, 'kept.db'), [current]),
        ...faultsAfter(folder, contentIn(folder, 'kept.db.1') === current ? 2 : 1),
        ...leftIn(folder),
      ];
    },
  };
}

function restoreTrial(template: string, current: string, restored: string): Trial {
  const words = ['restore', 'other.db', '--confirm', '--db', 'crm.db', '--quiet'];
  const kept = (folder: string) => namesIn(folder, /^crm\.db\.before-restore-\w+$/);
  return {
    name: 'crm restore',
    template,
    command: [BINARY, ...words],
    faultsAfter: (folder) => {
      const content = contentIn(folder, 'crm.db');
      const isKept = kept(folder).some((name) => contentIn(folder, name) === current);
      return [
        ...changed('the database', content, [current, restored]),
        ...(content === restored && !isKept ? ['what was there is not kept'] : []),
        ...changed('the backup', contentIn(folder, 'other.db'), [restored]),
      ];
    },
    again: async (folder) => {
      await opened(folder, 'crm.db');
      await again(folder, words);
      const all: string[] = [];
      for (const name of kept(folder)) {
        await opened(folder, name);
        all.push(contentIn(folder, name));
      }
      return [
        ...changed('the database', contentIn(folder, 'crm.db'), [restored]),
        ...(all.includes(current) ? [] : ['what was there is not kept']),
        ...all.flatMap((content) => changed('what is kept', content, [current, restored])),
        ...leftIn(folder),
      ];
    },
  };
}

function newPlaceTrial(template: string, restored: string): Trial {
  const words = ['restore', 'other.db', '--confirm', '--db', 'new.db', '--quiet'];
  return {
    name: 'crm restore to a new place',
    template,
    command: [BINARY, ...words],
    faultsAfter: (folder) =>
      namesIn(folder, /^new\.db$/).flatMap(() =>
        changed('the database', contentIn(folder, 'new.db'), [restored]),
      ),
    again: async (folder) => {
      await again(folder, words);
      await opened(folder, 'new.db');
      return [...changed('the database', contentIn(folder, 'new.db'), [restored]), ...leftIn(folder)];
    },
  };
}

function backupsIn(folder: string): string[] {
  return namesIn(folder, /^kept\.db(?:\.\d)?$/).map((name) => contentIn(folder, name));
}

function changed(what: string, content: string, expected: readonly string[]): string[] {
  return expected.includes(content) ? [] : [`${what} is ${content}`];
}

// Or what is wrong with it.
function contentIn(folder: string, name: string): string {
  try {
    return contentOf(join(folder, name));
  } catch (error) {
    return `unreadable (${error instanceof Error ? error.message : error})`;
  }
}

function namesIn(folder: string, pattern: RegExp): string[] {
  return readdirSync(folder)
    .filter((name) => pattern.test(name))
    .toSorted();
}

const leftIn = (folder: string): string[] =>
  namesIn(folder, /crm-part|crm-new|\.tmp/).map((name) => `${name} is left`);

async function again(folder: string, words: readonly string[]): Promise<void> {
  await runOnce(words, folder);
}

async function opened(folder: string, db: string): Promise<void> {
  await runOnce(['orgs', 'list', '--db', db], folder);
}
