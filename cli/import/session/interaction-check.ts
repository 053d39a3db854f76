// Checks interactions in a dry run: the contact of an email, and repeated interactions.
import type { Data } from '../../../db/model/json.ts';
import { contacts } from '../../../db/model/resources/contacts.ts';
import { CONTACT_UNKNOWN } from '../../../db/model/resources/interactions.ts';
import { uniqueValues } from '../../../db/model/rules.ts';
import { isRefusal } from '../../errors.ts';
import type { Rejection } from '../row.ts';
import { assertCanCreate } from '../rows/row-request.ts';
import { repeatKeys } from '../rows/unique-keys.ts';
import type { CheckContext } from './reference-check.ts';

/** Checks interactions; accepts all other resources. */
export class InteractionCheck {
  readonly #context: CheckContext;
  #mayMakeContacts: Promise<boolean> | undefined;

  constructor(context: CheckContext) {
    this.#context = context;
  }

  /** The fault of an email without a contact, and the keys that mark an interaction as repeated. */
  async check(body: Data): Promise<{ fault: Rejection | null; repeats: string[] }> {
    const { resource, scan, unchecked } = this.#context;
    if (resource.repeatedBy.length === 0) return { fault: null, repeats: [] };
    const contact = await this.#contactOf(body);
    if (contact === undefined) {
      const fault = { code: 'VALIDATION_FAILED', path: 'main_contact_email', message: CONTACT_UNKNOWN };
      return { fault, repeats: [] };
    }
    const repeats = repeatKeys(resource, body, contact);
    if (repeats.length > 0 && (await scan.scanned(resource.name)) !== 'all') unchecked.add(resource.name);
    return { fault: null, repeats };
  }

  /** ID of the contact, or the email of one that would be created; undefined if it cannot be created. */
  async #contactOf({ main_contact: id, main_contact_email: email }: Data): Promise<string | undefined> {
    if (typeof id === 'string') return id;
    const [unique] = uniqueValues(contacts, { email: email ?? null });
    if (unique === undefined) return '';
    const { scan, unchecked } = this.#context;
    const owner = await scan.ownerOf('contacts', unique);
    if (owner === null) unchecked.add('contacts');
    if (typeof owner === 'string') return owner;
    this.#mayMakeContacts ??= this.#askWhetherContacts();
    return owner === null || (await this.#mayMakeContacts) ? unique.key : undefined;
  }

  async #askWhetherContacts(): Promise<boolean> {
    try {
      await assertCanCreate(this.#context.client, 'contacts', this.#context.signal);
      return true;
    } catch (error) {
      if (!isRefusal(error, 403)) throw error;
      return false;
    }
  }
}
