// What commands tell with --debug on the journey, those too that give a key or a link on stdout, which is theirs to show.
import type { Result, Sandbox } from '../../support/command.ts';
import { isPostgres } from '../../support/fresh-databases.ts';
import type { Secret } from './needles.ts';

const MADE = ['--org', 'Debugged'];

interface DebugRun {
  sandbox: Sandbox;
  secrets: Secret[];
  said: [place: string, text: string][];
}

/** Runs what handles secrets with --debug; what is new among those is looked for too, on stderr. */
export async function runDebugged({ sandbox, secrets, said }: DebugRun): Promise<void> {
  const run = async (args: readonly string[], env: Record<string, string> = {}): Promise<Result> => {
    const result = await sandbox.crm([...args, '--debug'], { env });
    if (!result.stderr.includes('debug: ')) throw new Error(`no debug lines from crm ${args.join(' ')}`);
    said.push([`crm ${args.join(' ')} --debug, on stderr (${result.code})`, result.stderr]);
    return result;
  };
  const keep = (name: string, text: string) => void secrets.push({ name, text });
  keep('debugged', (await run(['init', ...MADE])).stdout.trim());
  const issued = await run(['keys', 'issue', ...MADE, '--all-scopes', '-o', 'json']);
  const { id, key } = JSON.parse(issued.stdout);
  keep('debugged, issued', key);
  keep('debugged, rotated', (await run(['keys', 'rotate', id])).stdout.trim());
  const [recording] = JSON.parse((await run(['list', 'recordings', '-o', 'json'])).stdout);
  const { stdout } = await run(['get', 'recordings', recording.id, '-o', 'json']);
  keep('debugged, token', new URL(JSON.parse(stdout).transcript_url).searchParams.get('token') ?? '');
  await sandbox.write('debugged.csv', 'First Name\nDora\n');
  await run(['import', 'contacts', 'debugged.csv']);
  await run(['export', 'contacts', '--out', 'debugged.ndjson']);
  await run(['doctor']);
  await run(['secrets', 'rotate']);
  const password = crypto.randomUUID().repeat(2);
  keep('a password', password);
  // In the environment: the arguments of a process are for everybody to read.
  const CRM_DB = `postgres://ada:${password}@127.0.0.1:1/crm`;
  await run(['orgs', 'list'], { CRM_DB });
  await run(['list', 'contacts', '--limit', '1'], { CRM_DB });
  if (!isPostgres) await run(['quickstart', '--exit']);
}
