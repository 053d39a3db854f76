// Checks interactions in a dry run: the contact of an email, and repeated interactions.
import type { Data } from '../../../db/model/json.ts';
import type { Resource } from '../../../db/model/resource.ts';
import { contacts } from '../../../db/model/resources/contacts.ts';
import { CONTACT_UNKNOWN } from '../../../db/model/resources/interactions.ts';
import { uniqueValues } from '../../../db/model/rules.ts';
import type { Client } from '../../api/client.ts';
import { isRefusal } from '../../errors.ts';
import type { Rejection } from '../row.ts';
import { assertCanCreate } from '../rows/row-request.ts';
import { repeatKeys } from '../rows/unique-keys.ts';
import type { RecordScan } from './record-scan.ts';

export interface InteractionCheckOptions {
  resource: Resource;
  scan: RecordScan;
  /** Called with resources that could not be checked. */
  onUnchecked(name: string): void;
  signal: AbortSignal;
}

/** Checks interactions; accepts all other resources. */
export class InteractionCheck {
  readonly #client: Client;
  readonly #options: InteractionCheckOptions;
  #mayMakeContacts: Promise<boolean> | undefined;

  constructor(client: Client, options: InteractionCheckOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** The fault of an email without a contact, and the keys that mark an interaction as repeated. */
  async check(body: Data): Promise<{ fault: Rejection | null; repeats: string[] }> {
    const { resource, scan, onUnchecked } = this.#options;
    if (resource.repeatedBy.length === 0) return { fault: null, repeats: [] };
    const contact = await this.#contactOf(body);
    if (contact === undefined) {
      const fault = { code: 'VALIDATION_FAILED', path: 'main_contact_email', message: CONTACT_UNKNOWN };
      return { fault, repeats: [] };
    }
    const repeats = repeatKeys(resource, body, contact);
    if (repeats.length > 0 && (await scan.scanned(resource.name)) !== 'all') onUnchecked(resource.name);
    return { fault: null, repeats };
  }

  /** ID of the contact, or the email of one that would be created; undefined if it cannot be created. */
  async #contactOf({ main_contact: id, main_contact_email: email }: Data): Promise<string | undefined> {
    if (typeof id === 'string') return id;
    const [unique] = uniqueValues(contacts, { email: email ?? null });
    if (unique === undefined) return '';
    const owner = await this.#options.scan.ownerOf('contacts', unique);
    if (owner === null) this.#options.onUnchecked('contacts');
    if (typeof owner === 'string') return owner;
    this.#mayMakeContacts ??= this.#askWhetherContacts();
    return owner === null || (await this.#mayMakeContacts) ? unique.key : undefined;
  }

  async #askWhetherContacts(): Promise<boolean> {
    try {
      await assertCanCreate(this.#client, 'contacts', this.#options.signal);
      return true;
    } catch (error) {
      if (!isRefusal(error, 403)) throw error;
      return false;
    }
  }
}
