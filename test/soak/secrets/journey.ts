// A journey on which keys and tokens are used, lost, rotated and put in wrong places, and after it a search for what is left of them.
import { chmodSync, mkdirSync } from 'node:fs';
import { type RunningServer, Sandbox } from '../../support/command.ts';
import { isPostgres } from '../../support/fresh-databases.ts';
import { runDebugged } from './debugged.ts';
import { type Hit, Search, type Secret } from './needles.ts';
import { copyDatabase, dumpOf, readableIn } from './places.ts';
import { Arguments } from './processes.ts';
import { type Sender, send, sendWhereMistaken } from './requests.ts';

const ORG = ['--org', 'Secrets'];

export interface Findings {
  secrets: readonly Secret[];
  hits: Hit[];
  places: number;
  bytes: number;
  spellings: number;
  /** Of the journey's own requests, how many failed inside. */
  failures: number;
  /** Files that others than their owner may read. */
  readable: string[];
}

export interface JourneyOptions {
  /** More flags of the server. */
  flags?: readonly string[];
  /** In which forms commands tell what they list. */
  forms?: readonly string[];
}

interface JourneyState {
  forms: readonly string[];
  sandbox: Sandbox;
  secrets: Secret[];
  /** All that was said, but for what shows a key by intent. */
  said: [place: string, text: string][];
}

/** Goes on the journey. @param command how the command line starts @param options what else */
export async function journey(
  log: 'json' | 'pretty',
  command: readonly string[],
  { flags = [], forms = ['json', 'table'] }: JourneyOptions = {},
): Promise<Findings> {
  const sandbox = await Sandbox.withDatabase(command);
  // Here keys are kept as the manual advises: it is not searched.
  const vault = new Sandbox(command);
  try {
    const state: JourneyState = { sandbox, forms, secrets: [], said: [] };
    const failures = await runJourney(state, vault, ['--log', log, ...flags]);
    const search = new Search(state.secrets);
    for (const [place, text] of state.said) search.in(place, Buffer.from(text));
    search.inFolder(sandbox.folder);
    if (isPostgres) search.in('the database', Buffer.from(await dumpOf(sandbox.database)));
    const { hits, places, bytes, spellings } = search;
    const { secrets } = state;
    return { secrets, hits, places, bytes, spellings, failures, readable: readableIn(sandbox.folder) };
  } finally {
    vault[Symbol.dispose]();
    await sandbox[Symbol.asyncDispose]();
  }
}

async function runJourney(state: JourneyState, vault: Sandbox, flags: readonly string[]): Promise<number> {
  const { sandbox, secrets } = state;
  const watched = new Arguments();
  const key = await issueAll(state, vault);
  sandbox.env.CRM_API_KEY = key;
  await ingest(sandbox);
  const schedule = isPostgres ? [] : ['--backup-every', '1m', '--backup-dir', 'backups'];
  const server = await sandbox.serve([...flags, '--behind-proxy', '--metrics-port', '0', ...schedule]);
  sandbox.env.CRM_URL = server.url;
  const sender: Sender = { url: server.url, key, answers: [] };
  await signIn(sender, secrets);
  for (const secret of [...secrets]) await sendWhereMistaken(sender, secret);
  await followLinks(sender, secrets);
  const failures = await failInside(sandbox, sender, secrets);
  await runCommands(state, vault);
  await runDebugged(state);
  await rotate(state, sender);
  state.said.push(['arguments of processes', watched.end()]);
  await mistype(state);
  await collectMetrics(state, server);
  // The log of writes is in the file once the server has stopped: both states are searched.
  if (!isPostgres) copyDatabase(sandbox);
  const { stdout, stderr } = await server.stop();
  state.said.push(['what the server said', stdout + stderr]);
  await runRecorded(state, ['list', 'contacts'], { CRM_API_KEY: key });
  return failures;
}

async function issueAll({ sandbox, secrets }: JourneyState, vault: Sandbox): Promise<string> {
  const keep = (name: string, text: string) => {
    secrets.push({ name, text });
    return text;
  };
  const key = keep('the first key', await sandbox.ok(['init', ...ORG, '--user', 'ada@example.com']));
  const issue = (name: string, ...args: string[]) =>
    sandbox.ok(['keys', 'issue', ...ORG, '--name', name, ...args]).then((text) => keep(name, text));
  await issue('v1', '--api', 'v1', '--all-scopes');
  await issue('service_pk', '--api', 'v1', '--all-scopes', '--prefix', 'service_pk');
  await issue('bound', '--all-scopes', '--access', 'user', '--user', 'ada@example.com');
  await issue('revoked', '--scopes', 'contacts:read');
  const keys = JSON.parse(await sandbox.ok(['keys', 'list', '-o', 'json']));
  const { id } = keys.find((one: { name: string }) => one.name === 'revoked');
  keep('rotated', await sandbox.ok(['keys', 'rotate', id]));
  await sandbox.ok(['keys', 'revoke', id]);
  // Of the right form, and of another database.
  keep('foreign', await vault.ok(['init', '--org', 'Elsewhere', '--db', vault.path('other.db')]));
  return key;
}

async function ingest(sandbox: Sandbox): Promise<void> {
  const segments = [{ speaker: { name: 'Ada', email: null }, start_time: 0, end_time: 1, speech: 'Hello.' }];
  await sandbox.write('meeting.json', '[{"external_id":"m","title":"Kick-off"}]');
  const recording = { external_id: 'r', meeting_external_id: 'm', title: 'Kick-off', segments };
  await sandbox.write('recording.json', JSON.stringify([recording]));
  await sandbox.ok(['ingest', 'meetings', 'meeting.json', ...ORG]);
  await sandbox.ok(['ingest', 'recordings', 'recording.json', ...ORG]);
}

async function signIn(sender: Sender, secrets: readonly Secret[]): Promise<void> {
  for (const { name, text } of secrets) {
    const headers = {
      Authorization: `Bearer ${text}`,
      'Idempotency-Key': `made by ${name}`.replaceAll(' ', '-'),
    };
    const body = JSON.stringify({ first_name: `By ${name}` });
    for (let time = 0; time < 2; time++) await send(sender, 'POST', '/api/v2/contacts', { headers, body });
    await send(sender, 'GET', '/api/v1/authenticate', { headers: { 'X-Service-Api-Key': text } });
  }
  const page = await send(sender, 'GET', '/api/v2/contacts?limit=1');
  const cursor = encodeURIComponent(page.page_info.end_cursor);
  await send(sender, 'GET', `/api/v2/contacts?limit=1&cursor=${cursor}`);
  await send(sender, 'GET', `/api/v2/deals?limit=1&cursor=${cursor}`);
}

// A link opens a transcript, is altered, and is asked for with a key beside it.
async function followLinks(sender: Sender, secrets: Secret[]): Promise<void> {
  const { data } = await send(sender, 'GET', '/api/v2/recordings');
  for (let link = 0; link < 2; link++) {
    const one = await send(sender, 'GET', `/api/v2/recordings/${data[0].id}`);
    const address = new URL(one.data.transcript_url);
    const text = address.searchParams.get('token') ?? '';
    secrets.push({ name: `token ${link}`, text });
    for (const path of [address.pathname + address.search, `${address.pathname}?token=${text}x`])
      for (const key of ['', sender.key]) await send({ ...sender, key }, 'GET', path);
    await send(sender, 'GET', `/api/v2/contacts/${text}`);
    await send(sender, 'GET', `/api/v2/${text}`);
    await send(sender, 'GET', `/api/v2/contacts?cursor=${text}`);
  }
}

// Tables that are not where they were make a request fail inside; gives how many did.
async function failInside(sandbox: Sandbox, sender: Sender, secrets: readonly Secret[]): Promise<number> {
  const sql = new Bun.SQL(isPostgres ? sandbox.database : `sqlite://${sandbox.database}`);
  // The server writes too, of its own accord.
  if (!isPostgres) await sql.unsafe('pragma busy_timeout = 60000');
  const before = sender.answers.length;
  const token = secrets.find(({ name }) => name === 'token 0')?.text ?? '';
  const tables = ['contacts', 'recording_transcripts', 'api_keys'];
  for (const table of tables) await sql.unsafe(`alter table ${table} rename to ${table}_away`);
  try {
    await send(sender, 'GET', `/api/v2/transcripts/download?token=${token}`);
    for (const { text } of secrets) {
      const headers = { 'X-Service-Api-Key': text };
      await send(sender, 'GET', `/api/v2/contacts/${text}`, { headers });
      await send(sender, 'POST', '/api/v2/contacts', { headers, body: '{"first_name":"Lost"}' });
    }
  } finally {
    for (const table of tables) await sql.unsafe(`alter table ${table}_away rename to ${table}`);
    await sql.close();
  }
  return sender.answers.slice(before).filter((answer) => answer.startsWith('5')).length;
}

async function runRecorded(
  { sandbox, said }: JourneyState,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<void> {
  const { code, stdout, stderr } = await sandbox.crm(args, { env: { CRM_DEBUG: '1', ...env } });
  said.push([`crm ${args.join(' ')} (${code})`, stdout + stderr]);
}

// What people do with keys on the command line, and with what holds them.
async function runCommands(state: JourneyState, vault: Sandbox): Promise<void> {
  const { sandbox, forms, secrets } = state;
  const rows = 'First Name,Email\nAda,ada@import.test\nBob,no address\nAda,ada@import.test\n';
  await sandbox.write('people.csv', rows);
  const foreign = secrets.find(({ name }) => name === 'foreign')?.text ?? '';
  await vault.write('key', `${sandbox.env.CRM_API_KEY}\n`);
  chmodSync(vault.path('key'), 0o600);
  mkdirSync(sandbox.path('config/crm'), { recursive: true });
  const profile = { url: sandbox.env.CRM_URL, api_key_file: vault.path('key') };
  await sandbox.write('config/crm/config.json', JSON.stringify({ profiles: { default: profile } }));
  const byProfile = { CRM_API_KEY: '', CRM_URL: '' };
  await runRecorded(state, ['import', 'contacts', 'people.csv']);
  await runRecorded(state, ['import', 'contacts', 'people.csv', '--on-duplicate', 'update']);
  await runRecorded(state, ['list', 'contacts', '-o', 'json'], byProfile);
  await runRecorded(state, ['create', 'contacts', 'first_name=Cleo'], byProfile);
  await runRecorded(state, ['list', 'contacts'], { CRM_API_KEY: foreign });
  await runRecorded(state, ['export', 'all', '--out', 'export']);
  for (const form of forms) {
    await runRecorded(state, ['doctor', '-o', form]);
    await runRecorded(state, ['doctor', '-o', form], { CRM_API_KEY: foreign });
    await runRecorded(state, ['keys', 'list', '-o', form]);
    await runRecorded(state, ['audit', 'list', '-o', form]);
    await runRecorded(state, ['users', 'list', ...ORG, '-o', form]);
  }
  await runRecorded(state, ['keys', 'issue', ...ORG, '--all-scopes', '--dry-run']);
  await runRecorded(state, ['people', 'export', 'ada@import.test', ...ORG]);
  if (isPostgres) return;
  await runRecorded(state, ['backup', 'backup.db']);
  await runRecorded(state, ['restore', 'backup.db', '--confirm', '--db', 'restored.db']);
  await runRecorded(state, ['migrate', '--from', 'crm.db', '--to', 'migrated.db']);
}

// A key that is typed is seen by the machine, but goes no further.
async function mistype(state: JourneyState): Promise<void> {
  const { text = '' } = state.secrets.find(({ name }) => name === 'foreign') ?? {};
  for (const words of [
    `list contacts --filter email=${text}`,
    `keys revoke ${text}`,
    `keys list --org ${text}`,
  ]) {
    const { code, stderr } = await state.sandbox.crm(words.split(' '));
    state.said.push([`crm ${words.split(' ')[0]} with a key typed (${code})`, stderr.replaceAll(text, '')]);
  }
}

// The server knows it within a second: what was signed before is used before and after.
async function rotate(state: JourneyState, sender: Sender): Promise<void> {
  await runRecorded(state, ['secrets', 'rotate', '--grace', '0']);
  await followLinks(sender, state.secrets);
}

async function collectMetrics({ said }: JourneyState, { metricsUrl }: RunningServer): Promise<void> {
  if (metricsUrl !== null) said.push(['metrics', await (await fetch(metricsUrl)).text()]);
}
