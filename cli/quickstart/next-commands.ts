// The commands that quickstart suggests at the end, ready to copy and run.
import { isDatabaseAddress } from '../../db/database-address.ts';
import { programName } from '../terminal/program-name.ts';
import { shellWord } from '../terminal/text.ts';

/** What to try while the demo server runs; the first line sets server URL and key for the others. */
export function commandsWhileServing(url: string, apiKey: string, program = programName()): string[] {
  return [
    `export CRM_URL=${url} CRM_API_KEY=${apiKey}`,
    `${program} list deals --filter status=open`,
    `${program} export contacts --format csv --out contacts.csv`,
    `curl -H "X-Service-Api-Key: $CRM_API_KEY" "$CRM_URL/api/v2/recordings?has_transcript=true"`,
  ];
}

/** What to try after the demo server has stopped: the kept database or another run, then a real database. */
export function commandsAfterwards(keptDatabase: string | null, program = programName()): string[] {
  const again = keptDatabase === null ? 'quickstart' : `serve --db ${shellWord(keptDatabase)}`;
  if (keptDatabase !== null && isDatabaseAddress(keptDatabase))
    return [`${program} ${again}`, `${program} init --org "My Company" --db ${shellWord(keptDatabase)}`];
  return [
    `${program} ${again}`,
    `${program} init --org "My Company" --db crm.db`,
    `${program} serve --db crm.db`,
  ];
}
