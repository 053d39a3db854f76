// Contacts: an email, primary or alternative, belongs to one contact of the organization.

import { caselessKey } from '../../db/declare/fields.ts';
import type { Data } from '../../db/declare/json.ts';
import { contacts } from '../../db/resources/contacts.ts';
import { findContactsByEmail, replaceContactEmails } from '../../db/tables/contact-emails.ts';
import { findRecord } from '../../db/tables/records.ts';
import { conflict } from './conflict.ts';
import type { Change, Rules } from './rules.ts';

export const contactRules: Rules = {
  // Alternative addresses are a set, without the primary one.
  prepare({ input, next }) {
    if (input.email === undefined && input.alt_emails === undefined) return;
    const others = new Map(
      emailList(next)
        .toReversed()
        .map((email) => [caselessKey(email), email]),
    );
    if (typeof next.email === 'string') others.delete(caselessKey(next.email));
    next.alt_emails = [...others.values()].toReversed();
  },
  async claim(change) {
    const paths = emailPaths(change.input);
    if (paths.size === 0) return;
    const { trx, access } = change;
    const owners = await findContactsByEmail(trx, access.orgId, [...paths.keys()]);
    for (const [email, path] of paths) {
      const ownerId = owners.get(email);
      if (ownerId === undefined || ownerId === change.id) continue;
      const owner = await findRecord(trx, contacts, { orgId: access.orgId, id: ownerId });
      if (owner === undefined) continue;
      throw conflict(access, contacts, owner, { path, message: 'another contact has this email address' });
    }
  },
  async afterWrite({ trx, access, id, current, input, next }: Change) {
    if (current !== null && input.email === undefined && input.alt_emails === undefined) return;
    await replaceContactEmails(trx, {
      orgId: access.orgId,
      id,
      email: typeof next.email === 'string' ? next.email : null,
      altEmails: emailList(next),
      isNew: current === null,
    });
  },
};

function emailList(data: Data): string[] {
  return Array.isArray(data.alt_emails) ? data.alt_emails.map(String) : [];
}

// Each address that the client sent, in lower case, with the path it was sent at.
function emailPaths(input: Data): Map<string, string> {
  const paths = new Map<string, string>();
  if (typeof input.email === 'string') paths.set(caselessKey(input.email), 'email');
  for (const [index, email] of emailList(input).entries()) {
    const key = caselessKey(email);
    if (!paths.has(key)) paths.set(key, `alt_emails.${index}`);
  }
  return paths;
}
