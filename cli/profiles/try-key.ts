// Tries a key on its server before it is kept.
import { isObject } from '../../db/model/json.ts';
import { apiOfKey } from '../../db/tables/key-format.ts';
import { connect } from '../api/connect.ts';
import { recordOf } from '../api/envelope.ts';
import { isRefusal } from '../errors.ts';

// A person waits for this.
const WAIT_SECONDS_MAX = 10;

/** Sends one request with the key, and resolves with the name of its organization, null if that cannot be told. */
export async function organizationOfKey(url: string, key: string): Promise<string | null> {
  const options = { waitSecondsMax: WAIT_SECONDS_MAX };
  const client = await connect({ url, apiKey: async () => key }, undefined, options);
  if (apiOfKey(key) !== 'v1') {
    const { organization } = recordOf(await client.request('GET', '/api/v2/authenticate'));
    return isObject(organization) ? String(organization.name) : null;
  }
  try {
    await client.request('GET', '/api/v1/authenticate');
  } catch (error) {
    // The key works, but only one with ALL may ask this.
    if (!isRefusal(error, 403)) throw error;
  }
  return null;
}
