// Rotates the log of a server under requests with the real logrotate, by the recipe that crm prints, and counts lines.
import { readdirSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { BINARY, Sandbox } from '../support/command.ts';

const CLIENTS = 16;
const RECIPE_LOG = '/var/log/crm/crm.log';
const RECIPE_HANG_UP = /systemctl kill .*/;

const { values } = parseArgs({
  options: { rotations: { type: 'string', default: '60' }, readers: { type: 'string', default: '0' } },
});

using sandbox = new Sandbox([BINARY]);
const key = await sandbox.ok(['init', '--org', 'Acme', '--user', 'ada@acme.example']);
const server = await sandbox.serve(['--log', 'json', '--log-file', 'crm.log', '--readers', values.readers]);
const recipe = (await sandbox.ok(['recipe', 'logrotate']))
  .replaceAll(RECIPE_LOG, sandbox.path('crm.log'))
  .replace('rotate 14', 'rotate 10000')
  .replace(/^ +(delay)?compress$/gm, '')
  .replace('create 0600 crm crm', 'create 0600')
  .replace(/^ +su crm crm$/m, '')
  .replace(RECIPE_HANG_UP, `kill -HUP ${server.pid}`);
await sandbox.write('logrotate.conf', `${recipe}\n`);

const asked: string[] = [];
let isOver = false;
const asking = Array.from({ length: CLIENTS }, async () => {
  while (!isOver) {
    const response = await fetch(`${server.url}/api/v2/contacts`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    await response.text();
    asked.push(response.headers.get('X-Request-Id') ?? '');
  }
});
for (let count = 0; count < Number(values.rotations); count++) {
  await Bun.sleep(200);
  const command = ['logrotate', '--force', '--state', sandbox.path('state'), sandbox.path('logrotate.conf')];
  const { exitCode, stderr } = Bun.spawnSync(command, { stderr: 'pipe' });
  if (exitCode !== 0) throw new Error(`logrotate ended with ${exitCode}: ${stderr}`);
}
isOver = true;
await Promise.all(asking);
await server.stop();

const files = readdirSync(sandbox.folder).filter((name) => name.startsWith('crm.log'));
const logged = files.flatMap((name) =>
  readFileSync(sandbox.path(name), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => String(JSON.parse(line).request_id)),
);
const known = new Set(logged);
const lost = asked.filter((id) => !known.has(id)).length;
const doubled = logged.length - known.size;
console.log(
  `${asked.length} requests, ${values.rotations} rotations, ${files.length} files, readers ${values.readers}: ` +
    `${lost} lines lost, ${doubled} doubled`,
);
process.exit(lost + doubled === 0 && logged.length === asked.length ? 0 : 1);
