// Carries out `crm browse`: on a terminal only.
import { isObject } from '../../db/model/json.ts';
import { connect } from '../api/connect.ts';
import { recordOf } from '../api/envelope.ts';
import { resourceFor } from '../api/target.ts';
import { usageError } from '../errors.ts';
import type { Config } from '../settings/config.ts';
import { canShowScreen } from '../terminal/questions.ts';
import { waitInWords } from '../terminal/wait-reasons.ts';
import { BrowserSource } from './source.ts';

/** Shows the records of a resource, or the list of resources, until the person quits. */
export async function runBrowse(name: string | undefined, _flags: object, config: Config): Promise<void> {
  const resource = name === undefined ? null : resourceFor(name, 'list');
  if (!canShowScreen())
    throw usageError('crm browse needs a terminal.', `run: crm list ${resource?.name ?? 'contacts'}`);
  let onNews = (_text: string): void => {};
  const client = await connect(config, (wait) => onNews(waitInWords(wait)));
  const { key } = recordOf(await client.request('GET', '/api/v2/authenticate'));
  const scopes = isObject(key) && Array.isArray(key.scopes) ? key.scopes.map(String) : [];
  const source = new BrowserSource(client, scopes);
  const { showBrowser } = await import('./screen/show.tsx');
  await showBrowser(source, resource, (listener) => {
    onNews = listener;
  });
}
