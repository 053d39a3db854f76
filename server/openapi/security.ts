// How clients send a key, as the description tells their generators.
import type { Data } from '../../db/model/json.ts';
import type { Api } from '../../db/tables/key-format.ts';

/** The scheme of each version's keys; one for each, since generated clients send a key with every scheme they find. */
export const KEY_SCHEMES: Record<Api, string> = { v1: 'V1ApiKey', v2: 'ApiKey' };

const KEYS: Record<Api, string> = {
  v1: 'A version 1 key: `service_api_…` or `service_pk_…`.',
  v2: 'A version 2 key: `service_live_…`.',
};

/** The security schemes of those versions. */
export function securitySchemes(apis: readonly Api[]): Data {
  const schemes = apis.map((api): [string, Data] => [
    KEY_SCHEMES[api],
    {
      type: 'http',
      scheme: 'bearer',
      description: `${KEYS[api]} You can send it as \`X-Service-Api-Key: <key>\` instead, but not as both.`,
    },
  ]);
  return Object.fromEntries(schemes);
}
