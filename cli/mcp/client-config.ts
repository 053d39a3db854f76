// The configuration with which a client starts `crm mcp`, for --print-config; never with the key itself.
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Config } from '../settings/config.ts';
import { settingsFolder } from '../settings/profile.ts';
import { programCommand } from '../terminal/program-name.ts';
import { note, writeOut } from '../terminal/streams.ts';
import { shellWord } from '../terminal/text.ts';

/** Prints the JSON that most clients take, and on stderr how the key gets into its file. */
export async function printClientConfig(
  { write, allowDelete }: { write: boolean; allowDelete: boolean },
  config: Config,
): Promise<void> {
  const [command = 'crm', ...start] = programCommand();
  const key = config.sources.find(({ name }) => name === 'API key');
  // A variable of this shell is not there where a client starts crm.
  const isInFile = key !== undefined && (key.from === '--api-key-file' || key.from === 'profile');
  const file = isInFile ? resolve(key.value) : join(settingsFolder(), 'mcp.key');
  const args = [
    ...[...start, 'mcp', '--api-key-file', file],
    ...(write ? ['--write'] : []),
    ...(allowDelete ? ['--allow-delete'] : []),
  ];
  const server = { command, args, env: { CRM_URL: config.url } };
  await writeOut(`${JSON.stringify({ mcpServers: { crm: server } }, null, 2)}\n`);
  if (isInFile) {
    if (!existsSync(file)) note(`crm: warning: ${file} does not exist. Write the API key to it.`);
    return;
  }
  const folder = shellWord(dirname(file));
  note(`The client reads the API key from ${file}. To write it there:`);
  note(`  (umask 077; mkdir -p ${folder}; printenv CRM_API_KEY > ${shellWord(file)})`);
}
