// Companies: the domain is kept in one form and is unique in the organization.
import { normalizeDomain } from '../../db/declare/fields.ts';
import { companies } from '../../db/resources/companies.ts';
import { type Db, tableOf } from '../../db/schema.ts';
import { statement } from '../../db/statement.ts';
import { conflict } from './conflict.ts';
import type { Rules } from './rules.ts';

type DomainOwner = { id: string; owner_id: string | null };

const byDomain = statement<DomainOwner>((db, param) =>
  db
    .selectFrom(tableOf(companies))
    .select(['id', 'owner_id'])
    .$castTo<DomainOwner>()
    .where('org_id', '=', param('org'))
    .where('domain', '=', param('domain')),
);

/** The company that has a domain, in any spelling of it. */
export async function findCompanyByDomain(
  db: Db,
  orgId: string,
  domain: string,
): Promise<DomainOwner | undefined> {
  return (await byDomain(db, { org: orgId, domain: normalizeDomain(domain) }))[0];
}

export const companyRules: Rules = {
  inspect({ domain }) {
    if (typeof domain !== 'string' || normalizeDomain(domain) !== '') return [];
    const message = 'must be an internet domain, such as example.com';
    return [{ path: 'domain', message, code: 'VALIDATION_INVALID_FORMAT' }];
  },
  prepare({ input, next }) {
    if (typeof input.domain === 'string') next.domain = normalizeDomain(input.domain);
  },
  async claim({ trx, access, id, input, next }) {
    if (typeof input.domain !== 'string' || typeof next.domain !== 'string') return;
    const owner = await findCompanyByDomain(trx, access.orgId, next.domain);
    if (owner === undefined || owner.id === id) return;
    throw conflict(access, companies, owner, { path: 'domain', message: 'another company has this domain' });
  },
};
