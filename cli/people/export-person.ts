// Carries out `crm people export`: one document with all data that an organization stores about a person.

import type { OrganizationRow } from '../../db/engine/schema.ts';
import { exportPerson } from '../../db/people/export.ts';
import { countSearchedRows } from '../../db/people/mentions.ts';
import { findPerson } from '../../db/people/person.ts';
import { recordAction } from '../database/audit.ts';
import { checkedEmail, isoTime, organizationNamed, withStore } from '../database/database.ts';
import { checkOutputPath, createParentFolder, outputFile } from '../files/output-path.ts';
import { replaceFile, writeAt } from '../files/private-file.ts';
import type { Config } from '../settings/config.ts';
import { counted } from '../terminal/format.ts';
import { jsonText } from '../terminal/output.ts';
import { withProgress } from '../terminal/progress.ts';
import { note, writeOut } from '../terminal/streams.ts';

export interface ExportOptions {
  org?: string;
  out?: string;
  force?: boolean;
  quiet?: boolean;
}

/** Writes the document to a file that only its owner can read, or to stdout. */
export async function runPeopleExport(
  address: string,
  { org: orgName, out: given, force = false, quiet = false }: ExportOptions,
  { db }: Config,
): Promise<void> {
  const email = checkedEmail(address);
  const out = outputFile(given);
  if (out !== null) checkOutputPath(out, force);
  const { organization, document } = await withStore(db, async (store) => {
    const found = await organizationNamed(store, orgName);
    const person = await findPerson(store.read, found.number, email);
    const total = await countSearchedRows(store.read, found.number);
    const gathered = await withProgress({ label: 'Reading', unit: 'rows', total, quiet }, (add) =>
      exportPerson(store.read, person, add),
    );
    const target = { type: 'contacts', id: person.contactId === '' ? null : person.contactId };
    await store.write(found.number, (trx) =>
      recordAction(trx, { orgNumber: found.number, action: 'people.exported', target }),
    );
    return { organization: found, document: gathered };
  });
  const text = `${jsonText({ ...headOf(organization), ...document }, 2)}\n`;
  if (out === null) await writeOut(text);
  else {
    createParentFolder(out);
    replaceFile(out, (descriptor) => writeAt(descriptor, Buffer.from(text), 0));
  }
  const records = Object.values(document.records).reduce((sum, some) => sum + some.length, 0);
  if (quiet) return;
  const who = document.contact === null ? 'no contact' : '1 contact';
  note(
    `Exported ${who}, ${counted(records, 'record')} and ${counted(document.transcripts.length, 'transcript')} about ${email}.`,
  );
  note('Read the document before you hand it over: its texts may name other people.');
}

function headOf({ id, name }: OrganizationRow) {
  return { organization: { id, name }, exported_at: isoTime(Date.now()) };
}
