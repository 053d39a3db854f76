// Contacts: an email, primary or alternative, belongs to one contact of the organization.
import type { Data, JsonValue } from '../../db/model/json.ts';
import { caselessKey } from '../../db/model/text.ts';
import { replaceContactEmails } from '../../db/tables/contact-emails.ts';
import type { Change, Rules } from './rules.ts';

export const contactRules: Rules = {
  // A contact that is found by an alternative address keeps it, and its primary address.
  onMatch({ fields, current, matchedBy }) {
    const { email, ...others } = fields;
    if (matchedBy !== 'email' || typeof email !== 'string' || isAddress(email, current.email)) return fields;
    if (others.alt_emails === undefined) return others;
    const given = emailList(others);
    return given.some((one) => isAddress(email, one)) ? others : { ...others, alt_emails: [...given, email] };
  },
  // Alternative addresses are a set, without the primary address; the same set stays in its order.
  prepare(change) {
    const { current, next } = change;
    const given = emailList(next);
    if (given.length === 0 || !hasAddresses(change)) return;
    const others = new Map(given.toReversed().map((email) => [caselessKey(email), email]));
    if (typeof next.email === 'string') others.delete(caselessKey(next.email));
    const kept = current === null ? [] : emailList(current);
    const isSame = kept.length === others.size && new Set(others.values()).isSubsetOf(new Set(kept));
    next.alt_emails = isSame ? kept : [...others.values()].toReversed();
  },
  afterWrite({ db: trx, access }, changes) {
    const changed = changes.filter(changesAddresses);
    if (changed.length === 0) return;
    const addresses = changed.map(({ id, current, next }) => ({
      id,
      before: current === null ? [] : addressesOf(current),
      after: addressesOf(next),
    }));
    return replaceContactEmails(trx, access.orgNumber, addresses);
  },
};

function isAddress(email: string, other: JsonValue | undefined): boolean {
  return typeof other === 'string' && caselessKey(email) === caselessKey(other);
}

function changesAddresses({ current, next }: Change): boolean {
  return current === null || next.email !== current.email || next.alt_emails !== current.alt_emails;
}

function hasAddresses({ input }: Change): boolean {
  return input.email !== undefined || input.alt_emails !== undefined;
}

function addressesOf(data: Data): string[] {
  return typeof data.email === 'string' ? [...emailList(data), data.email] : emailList(data);
}

function emailList(data: Data): string[] {
  return Array.isArray(data.alt_emails) ? data.alt_emails.map(String) : [];
}
