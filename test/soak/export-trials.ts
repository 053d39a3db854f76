// `crm export` as it is to be interrupted: the file or folder is what was there before, or the whole of what is there now.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BINARY } from '../support/command.ts';
import type { Trial } from './interrupted.ts';
import { createContacts, Node, runOnce } from './service.ts';
import { runWithFault } from './strace.ts';

const CONTACTS = 450;
const OLD = 'what was there before\n';

export interface ExportTrials {
  trials: Trial[];
  close(): Promise<void>;
}

/** The trials, with a server and what they need in folders below `root`. */
export async function exportTrials(root: string): Promise<ExportTrials> {
  const db = join(root, 'exported.db');
  const key = await runOnce(['init', '--org', 'Soak', '--db', db]);
  const node = await Node.start(db, ['--key-limit', '10000000', '--org-limit', '10000000']);
  const env = { CRM_URL: node.url, CRM_API_KEY: key };
  await createContacts(node.url, key, CONTACTS, 'Ada');
  await link(env);
  const one = (name: string) => fileTrial(root, env, name);
  const all = (format: string) => folderTrial(root, env, format);
  const trials = [
    await one('contacts.ndjson'),
    await one('contacts.csv'),
    await all('ndjson'),
    await all('csv'),
  ];
  return {
    trials: [...trials, await resumed(trials[0]), await resumed(trials[3])],
    close: () => node.kill(),
  };
}

async function link(env: Record<string, string>): Promise<void> {
  const run = (...words: string[]) => runOnce(words, undefined, env);
  const contact = JSON.parse(await run('list', 'contacts', '--limit', '1', '-o', 'ndjson'));
  for (const name of ['First', 'Second']) {
    const deal = JSON.parse(await run('create', 'deals', `name=${name}`, '-o', 'json'));
    await run('link', `deals/${deal.id}/contacts`, contact.id);
  }
}

async function fileTrial(root: string, env: Record<string, string>, name: string): Promise<Trial> {
  const template = join(root, `before-${name}`);
  mkdirSync(template);
  const words = ['export', 'contacts', '--out', name, '--force'];
  await runOnce(words, template, env);
  const whole = readFileSync(join(template, name), 'utf8');
  writeFileSync(join(template, name), OLD);
  const faults = (folder: string, expected: readonly string[]) => {
    const text = readFileSync(join(folder, name), 'utf8');
    return expected.includes(text) ? [] : [`the file has ${text.length} characters`];
  };
  return {
    name: `crm export contacts --out ${name}`,
    template,
    command: [BINARY, ...words],
    env,
    faultsAfter: (folder) => faults(folder, [OLD, whole]),
    again: async (folder) => {
      await runOnce(words, folder, env);
      return [...faults(folder, [whole]), ...leftIn(folder, [name])];
    },
  };
}

async function folderTrial(root: string, env: Record<string, string>, format: string): Promise<Trial> {
  const template = join(root, `before-all-${format}`);
  mkdirSync(template);
  const words = ['export', 'all', '--out', 'all', '--format', format];
  const reference = join(root, `reference-${format}`);
  mkdirSync(reference);
  await runOnce(words, reference, env);
  const whole = filesIn(join(reference, 'all'));
  const faults = (folder: string) =>
    filesIn(join(folder, 'all')) === whole ? [] : ['the folder is not what it should be'];
  return {
    name: `crm export all --format ${format}`,
    template,
    command: [BINARY, ...words],
    env,
    faultsAfter: (folder) => (existsSync(join(folder, 'all')) ? faults(folder) : []),
    again: async (folder) => {
      if (!existsSync(join(folder, 'all'))) await runOnce([...words, '--resume'], folder, env);
      return [...faults(folder), ...leftIn(folder, ['all'])];
    },
  };
}

/** The same, going on where a run was killed. */
async function resumed(trial: Trial | undefined): Promise<Trial> {
  if (trial === undefined) throw new Error('there is no such trial');
  const template = `${trial.template}-resumed`;
  mkdirSync(template);
  const { command, env = {} } = trial;
  const place = { cwd: template, env: { PATH: process.env.PATH ?? '', ...env } };
  for (const name of readdirSync(trial.template)) writeFileSync(join(template, name), OLD);
  await runWithFault(command, place, { call: 'fdatasync', nth: 2, what: 'SIGKILL' });
  return { ...trial, name: `${trial.name} --resume`, template, command: [...command, '--resume'] };
}

// What export.json tells is checked by its digests; the times in it differ.
function filesIn(folder: string): string {
  const names = readdirSync(folder).toSorted();
  return names
    .map((name) => {
      const text = readFileSync(join(folder, name), 'utf8');
      return `${name}\n${name === 'export.json' ? text.replaceAll(/"(?:began|ended)_at": ".*?"/g, '') : text}`;
    })
    .join('\n');
}

function leftIn(folder: string, expected: readonly string[]): string[] {
  return readdirSync(folder)
    .filter((name) => !expected.includes(name))
    .map((name) => `${name} is left`);
}
