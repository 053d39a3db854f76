// Changes of the stage of deals on timelines: on the deal, and on those of the contacts that it has.

import type { Trx } from '../engine/schema.ts';
import type { ColumnValue } from '../model/fields.ts';
import type { NewEntry, Subject } from './entries.ts';
import { findDealEnds, findStageNames, listDealContacts } from './subjects.ts';

/** A deal whose stage changed. */
export interface MovedDeal {
  id: string;
  /** The IDs of the stages. */
  from: string;
  to: string;
  /** Its point of contact; undefined for the one that it has now. */
  contact: ColumnValue | undefined;
  /** The sequence number of the change, and when it was made, in Unix milliseconds. */
  sequence: number;
  at: number;
}

/** The entries for changes of stages, with the names that the stages have now. */
export async function stageEntries(
  trx: Trx,
  orgNumber: number,
  moved: readonly MovedDeal[],
): Promise<NewEntry[]> {
  if (moved.length === 0) return [];
  const names = await findStageNames(
    trx,
    orgNumber,
    moved.flatMap(({ from, to }) => [from, to]),
  );
  const ids = [...new Set(moved.map(({ id }) => id))];
  const linked = Map.groupBy(await listDealContacts(trx, orgNumber, ids), ({ deal_id }) => deal_id);
  const unknown = moved.flatMap(({ id, contact }) => (contact === undefined ? [id] : []));
  const ends = new Map((await findDealEnds(trx, orgNumber, unknown)).map((deal) => [deal.id, deal]));
  return moved.flatMap(({ id, from, to, contact, sequence, at }) => {
    const main = contact === undefined ? ends.get(id)?.point_of_contact_id : contact;
    const people = new Set((linked.get(id) ?? []).map(({ contact_id }) => contact_id));
    if (typeof main === 'string') people.add(main);
    const subjects: Subject[] = [
      { on: 'deals', id },
      ...[...people].map((person) => ({ on: 'contacts', id: person }) as const),
    ];
    const detail = JSON.stringify({ from: names.get(from) ?? null, to: names.get(to) ?? null });
    return subjects.map((subject) => ({ subject, kind: 'stage', at, record: id, sequence, detail }) as const);
  });
}
