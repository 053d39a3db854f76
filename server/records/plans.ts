// Makes the changes of a run from what was asked, with the lookups for all of them.

import { andThen, type Eventually } from '../../db/engine/engine.ts';
import type { RecordRow } from '../../db/engine/schema.ts';
import { instantText } from '../../db/model/instants.ts';
import type { Data } from '../../db/model/json.ts';
import { initialFields } from '../../db/model/record-forms.ts';
import type { Resource } from '../../db/model/resource.ts';
import { findRecords } from '../../db/records/records.ts';
import { recordId } from '../../db/tables/record-id.ts';
import { canSee, principalOf } from '../access.ts';
import { notFound } from '../errors.ts';
import { changeOf } from './checks.ts';
import { loadKnownRecords } from './lookups.ts';
import { presentAll } from './records.ts';
import type { Change, Reader, Writer } from './rules.ts';
import type { PlannedChange, RunPlan } from './run-plan.ts';

/** Plans creates from fields that are valid against the create schema. */
export function planCreates(
  writer: Writer,
  resource: Resource,
  inputs: readonly Data[],
): Eventually<RunPlan> {
  const batch: Change[] = [];
  const base = { initial: initialRecord(writer, resource), batch };
  const plans = inputs.map((input) => planCreate(writer, resource, base, input));
  return andThen(loadKnownRecords(writer, resource, batch), (known) => ({ plans, known }));
}

/** Fields to change, valid against the resource's update schema. */
export interface Update {
  id: string;
  input: Data;
}

/** Plans updates. */
export function planUpdates(
  writer: Writer,
  resource: Resource,
  updates: readonly Update[],
): Eventually<RunPlan> {
  const ids = updates.map(({ id }) => id);
  return andThen(loadRecords(writer, resource, ids), (records) => {
    const batch: Change[] = [];
    const plans = updates.map(({ id, input }) => {
      const record = records.get(id);
      if (record === undefined || !canSee(writer.access, resource, record.row))
        return notFound(resource.singular);
      return planUpdate(writer, resource, { record, batch }, input);
    });
    return andThen(loadKnownRecords(writer, resource, batch), (known) => ({ plans, known }));
  });
}

/** A record, stored and as shown. */
export interface LoadedRecord {
  row: RecordRow;
  shown: Data;
}

/** The records with these IDs that exist, whether the key can see them or not. */
export function loadRecords(
  reader: Reader,
  resource: Resource,
  ids: readonly string[],
): Eventually<ReadonlyMap<string, LoadedRecord>> {
  const unique = ids.length > 1 ? [...new Set(ids)] : ids;
  return andThen(findRecords(reader.db, resource, reader.access.orgNumber, unique), (rows) => {
    const copies = rows.map((row) => ({ ...row }));
    return andThen(presentAll(reader, resource, copies), (shown) => {
      const records = new Map<string, LoadedRecord>();
      rows.forEach((row, index) => void records.set(row.id, { row, shown: shown[index] ?? {} }));
      return records;
    });
  });
}

/** A new record, before it has an ID and the fields of a body. */
export function initialRecord({ access, now }: Writer, { fields }: Resource): Data {
  return { ...initialFields(fields), created_by: principalOf(access), created_at: instantText(now) };
}

/** The change that creates a record. */
export function planCreate(
  writer: Writer,
  resource: Resource,
  { initial, batch }: { initial: Data; batch: Change[] },
  input: Data,
): PlannedChange {
  const subject = { id: recordId(writer.now), current: null, base: initial, batch };
  return { change: changeOf(writer, resource, subject, input), row: null };
}

/** The change of a record. */
export function planUpdate(
  writer: Writer,
  resource: Resource,
  { record: { row, shown }, batch }: { record: LoadedRecord; batch: Change[] },
  input: Data,
): PlannedChange {
  const subject = { id: row.id, current: shown, base: shown, batch };
  return { change: changeOf(writer, resource, subject, input), row };
}
