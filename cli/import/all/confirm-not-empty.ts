// Asks before importing an exported folder into an organization that already has records.

import { DEFAULT_PIPELINE_NAME } from '../../../db/model/resources/pipelines.ts';
import { RESOURCES } from '../../../db/model/resources/registry.ts';
import type { Client } from '../../api/client.ts';
import { listAt } from '../../api/pages.ts';
import { resourcePath } from '../../api/target.ts';
import { CliError, isRefusal, usageError } from '../../errors.ts';
import { canAsk, confirm } from '../../terminal/questions.ts';
import { importCommand } from '../flags.ts';
import type { ImportRequest } from '../request.ts';

/** Returns if the organization has only its default pipeline, or if the user confirms. */
export async function confirmNotEmpty(client: Client, request: ImportRequest): Promise<void> {
  const there = await recordsThere(client);
  if (there.length === 0) return;
  const found = `The organization already has records: ${there.join(', ')}.`;
  if (!canAsk()) {
    const command = importCommand({ ...request, isConfirmed: true });
    throw usageError(found, `import into an empty organization, or add to these records: ${command}`);
  }
  if (await confirm(`${found}\nImport the folder anyway?`)) return;
  throw new CliError('Nothing was imported.', { nextSteps: ['import into an empty organization.'] });
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
      // Resources that the key cannot read are not checked.
      if (!isRefusal(error, 403)) throw error;
    }
  }
  return there;
}
