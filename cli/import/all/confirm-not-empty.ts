// Asks before an exported folder goes into an organization that has records already.

import { DEFAULT_PIPELINE_NAME } from '../../../db/model/resources/pipelines.ts';
import { RESOURCES } from '../../../db/model/resources/registry.ts';
import type { Client } from '../../api/client.ts';
import { listAt } from '../../api/pages.ts';
import { resourcePath } from '../../api/target.ts';
import { CliError, isRefusal, usageError } from '../../errors.ts';
import { canAsk, confirm } from '../../terminal/streams.ts';
import { importCommand } from '../flags.ts';
import type { ImportRequest } from '../request.ts';

/** Returns where the organization has nothing but its default pipeline, or where somebody says yes. */
export async function confirmNotEmpty(client: Client, request: ImportRequest): Promise<void> {
  const there = await recordsThere(client);
  if (there.length === 0) return;
  const found = `The organization has records already: ${there.join(', ')}.`;
  if (!canAsk()) {
    const command = importCommand({ ...request, isConfirmed: true });
    throw usageError(found, `import into an empty organization, or beside them, with: ${command}`);
  }
  if (await confirm(`${found}\nImport the folder beside them?`)) return;
  throw new CliError('Nothing is imported.', { nextSteps: ['import into an empty organization.'] });
}

async function recordsThere(client: Client): Promise<string[]> {
  const there: string[] = [];
  for (const resource of RESOURCES) {
    const list = listAt(resourcePath(resource));
    try {
      const { records } = await list.page(client, null, 2);
      const others = records.filter(
        ({ name }) => resource.name !== 'pipelines' || name !== DEFAULT_PIPELINE_NAME,
      );
      if (others.length > 0) there.push(resource.name);
    } catch (error) {
      // What the key may not read it cannot be asked about.
      if (!isRefusal(error, 403)) throw error;
    }
  }
  return there;
}
