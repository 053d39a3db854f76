// The commands that quickstart ends with, written so that they can be copied and run.
import { relative } from 'node:path';
import { isAddress } from '../../db/declare/text.ts';
import { shellWord } from '../terminal/text.ts';

/** How this program is called from here: `crm` where that finds it, else its path, else the sources by Bun. */
export function programName(): string {
  if (!Bun.main.startsWith('/$bunfs/')) return `bun ${shellWord(nearPath(Bun.main))}`;
  return Bun.which('crm') === process.execPath ? 'crm' : shellWord(nearPath(process.execPath));
}

/** What to try while the demo server runs; the first line gives the others address and key. */
export function commandsWhileServing(url: string, apiKey: string, program = programName()): string[] {
  return [
    `export CRM_URL=${url} CRM_API_KEY=${apiKey}`,
    `${program} list deals --filter status=open`,
    `${program} export contacts --format csv --out contacts.csv`,
    `curl -H "X-Service-Api-Key: $CRM_API_KEY" "$CRM_URL/api/v2/recordings?has_transcript=true"`,
  ];
}

/** What to try once the demo server is gone: what it left behind or the same again, then a database of one's own. */
export function commandsAfterwards(keptDatabase: string | null, program = programName()): string[] {
  const again = keptDatabase === null ? 'quickstart' : `serve --db ${shellWord(keptDatabase)}`;
  if (keptDatabase !== null && isAddress(keptDatabase))
    return [`${program} ${again}`, `${program} init --org "My Company" --db ${shellWord(keptDatabase)}`];
  return [
    `${program} ${again}`,
    `${program} init --org "My Company" --db crm.db`,
    `${program} serve --db crm.db`,
  ];
}

/** The path from the current folder where it lies below, so that it can be typed. */
function nearPath(path: string): string {
  const near = relative(process.cwd(), path);
  if (near.startsWith('..')) return path;
  return near.includes('/') ? near : `./${near}`;
}
