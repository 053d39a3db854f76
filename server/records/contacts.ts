// Contacts: an email, primary or alternative, belongs to one contact of the organization.
import type { Data } from '../../db/declare/json.ts';
import { caselessKey } from '../../db/declare/text.ts';
import { replaceContactEmails } from '../../db/tables/contact-emails.ts';
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
