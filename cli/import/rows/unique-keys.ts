// What only one record of an organization may have, as the server compares it.

import type { Data } from '../../../db/declare/json.ts';
import { caselessKey, normalizeDomain } from '../../../db/declare/text.ts';

/** A value that is unique, and the list filter that finds who has it. */
export interface UniqueValue {
  key: string;
  path: string;
  filter: { email: string } | { domain: string };
}

/** The unique values of a body: emails of a contact, domain of a company. */
export function uniqueValues(resource: string, body: Data): UniqueValue[] {
  if (resource === 'companies' && typeof body.domain === 'string') {
    const domain = normalizeDomain(body.domain);
    return [{ key: `domain ${domain}`, path: 'domain', filter: { domain } }];
  }
  if (resource !== 'contacts') return [];
  const alternatives = Array.isArray(body.alt_emails) ? body.alt_emails : [];
  const emails: [string, unknown][] = [
    ['email', body.email],
    ...alternatives.map((email, index): [string, unknown] => [`alt_emails.${index}`, email]),
  ];
  return emails.flatMap(([path, email]) =>
    typeof email === 'string' && email !== ''
      ? [{ key: `email ${caselessKey(email)}`, path, filter: { email } }]
      : [],
  );
}

/** Keys of rows whose order must be kept, because the later one depends on what became of the earlier. */
export function orderingKeys(resource: string, body: Data): string[] {
  if (resource === 'interactions') {
    const { type, primary_id: primary, secondary_id: secondary } = body;
    return primary === undefined ? [] : [JSON.stringify([type, primary, secondary ?? null])];
  }
  return uniqueValues(resource, body).map(({ key }) => key);
}
