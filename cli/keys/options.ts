// Turns the options of `keys issue` into the key to issue, and checks them.

import { getOrganization } from '../../db/accounts/accounts.ts';
import { type AccessLevel, findKey, type NewKey, scopesFromV1 } from '../../db/accounts/keys.ts';
import type { ApiKeyRow, OrganizationRow } from '../../db/engine/schema.ts';
import { V1_SCOPES, V2_SCOPES } from '../../db/model/resources/registry.ts';
import type { Store } from '../../db/store.ts';
import { checkedName, organizationNamed, userNamed } from '../database/database.ts';
import { CliError, usageError } from '../errors.ts';
import { didYouMean } from '../nearest.ts';
import { expiryOf, parseExpiry } from './expiry.ts';
import { allowedNetworks, networksIn, usableFrom } from './networks.ts';
import { requestsFor } from './requests.ts';

export interface IssueOptions {
  org?: string;
  api: 'v1' | 'v2';
  prefix?: string;
  name?: string;
  scopes?: string;
  allScopes?: boolean;
  fromV1?: string;
  access: AccessLevel;
  user?: string;
  expires?: string;
  allowIp?: string[];
  requestsPerMinute?: number;
}

/** A key to issue. */
export interface PlannedKey {
  key: NewKey;
  /** What to tell the operator beyond the options. */
  told: string[];
}

/** The key that the checked options describe. */
export async function newKey(store: Store, options: IssueOptions, now: number): Promise<PlannedKey> {
  const name = options.name === undefined ? null : checkedName('The name of a key', options.name);
  const source = options.fromV1 === undefined ? null : await keyOfV1(store, options.fromV1);
  const org = await organizationOf(store, options, source);
  if (source !== null && source.org_id !== org.number) throw noKeyOfV1(org.name, source.id);
  const user = options.user === undefined ? null : await userNamed(store, org, options.user);
  const expiry = expiryOf(options.expires, org, source, now);
  const networks = networksFor(options, source);
  const requests = requestsFor(options, org, source);
  const key: NewKey = {
    orgNumber: org.number,
    api: options.api,
    ...(options.prefix !== undefined && { prefix: options.prefix }),
    name,
    scopes: source === null ? chosenScopes(options) : migratedScopes(source),
    access: options.access,
    userId: user?.id ?? null,
    expiresAt: expiry.at,
    networks: networks.list,
    requestsPerMinute: requests.perMinute,
    now,
  };
  return { key, told: [...expiry.told, ...networks.told, ...requests.told] };
}

function networksFor(
  { allowIp }: IssueOptions,
  source: ApiKeyRow | null,
): { list: string[] | null; told: string[] } {
  if (allowIp !== undefined) return { list: allowedNetworks(allowIp), told: [] };
  if (source === null) return { list: null, told: [] };
  const list = networksIn(source);
  return {
    list,
    told: list === null ? [] : [`Like the v1 key, this key can be used from ${usableFrom(list)}.`],
  };
}

/** Throws a usage error if the options are wrong by themselves. */
export function checkOptions(options: IssueOptions, now: number): void {
  checkCombination(options);
  if (options.name !== undefined) checkedName('The name of a key', options.name);
  if (options.expires !== undefined) parseExpiry(options.expires, now);
  if (options.allowIp !== undefined) allowedNetworks(options.allowIp);
  if (options.fromV1 === undefined) chosenScopes(options);
}

function checkCombination(options: IssueOptions): void {
  const { api, access } = options;
  const sources = [options.scopes !== undefined, options.allScopes === true, options.fromV1 !== undefined];
  if (sources.filter(Boolean).length !== 1) {
    throw usageError(
      'Choose exactly one way to set the scopes of the key.',
      'add one of --scopes a:read,b:write, --all-scopes or --from-v1 KEYID.',
    );
  }
  if (api === 'v2' && options.prefix !== undefined) {
    throw usageError('--prefix works with v1 keys only.', 'remove --prefix, or add --api v1.');
  }
  if (api === 'v1' && (access === 'user' || options.user !== undefined)) {
    throw usageError(
      'A v1 key always has access to the whole organization.',
      'remove --access and --user, or issue a v2 key.',
    );
  }
  if (api === 'v1' && options.fromV1 !== undefined) {
    throw usageError('--from-v1 always issues a v2 key.', 'remove --api v1.');
  }
  if ((access === 'user') !== (options.user !== undefined)) {
    throw usageError('--access user and --user EMAIL must be used together.', 'set both, or neither.');
  }
}

async function organizationOf(
  store: Store,
  { org }: IssueOptions,
  source: ApiKeyRow | null,
): Promise<OrganizationRow> {
  if (org === undefined && source !== null) return getOrganization(store.read, source.org_id);
  return organizationNamed(store, org);
}

function chosenScopes(options: IssueOptions): string[] {
  const valid: readonly string[] = options.api === 'v1' ? V1_SCOPES : V2_SCOPES;
  if (options.allScopes) return options.api === 'v1' ? ['ALL'] : [...valid];
  const wanted = (options.scopes ?? '').split(',').map((scope) => scope.trim());
  const unknown = wanted.filter((scope) => !valid.includes(scope));
  if (unknown.length === 0) return valid.filter((scope) => wanted.includes(scope));
  const named = unknown.map((scope) => `"${scope}"`).join(', ');
  const hint = didYouMean(unknown[0] ?? '', valid);
  throw usageError(
    `Unknown ${options.api} scope ${named}.${hint}`,
    `use one or more of: ${valid.join(', ')}.`,
  );
}

async function keyOfV1(store: Store, keyId: string): Promise<ApiKeyRow> {
  const key = await findKey(store.read, keyId);
  if (key?.api === 'v1') return key;
  throw noKeyOfV1('The database', keyId);
}

function migratedScopes({ scopes }: ApiKeyRow): string[] {
  return scopesFromV1(scopes.split(','));
}

function noKeyOfV1(whose: string, keyId: string): CliError {
  // People paste the key itself by mistake: never repeat it.
  const named = /^service_/.test(keyId) ? 'this ID' : `the ID "${keyId}"`;
  return new CliError(`${whose} has no v1 key with ${named}.`, {
    nextSteps: ['use the ID of the key, not the key itself. To list keys: crm keys list'],
  });
}
