// Predicts the result of each row without writing: references, conflicts with the server and within the file.
import type { Data } from '../../../db/model/json.ts';
import { duplicateMessage, uniqueValues } from '../../../db/model/rules.ts';
import { type RowOutcome, rejectionOf } from '../row.ts';
import type { Lookups } from '../rows/lookups.ts';
import { assertCanCreate } from '../rows/row-request.ts';
import { orderingKeys } from '../rows/unique-keys.ts';
import type { ImportParts } from './import-parts.ts';
import { InteractionCheck } from './interaction-check.ts';
import type { PendingBatch } from './journal-state.ts';
import { RecordScan } from './record-scan.ts';
import { ReferenceCheck } from './reference-check.ts';

// Marks a row of the file among the owners of unique values; other owners are record IDs.
const LINE = 'line ';

/** Replaces the Sender in a dry run. */
export class DryRunChecker {
  readonly #parts: ImportParts;
  readonly #scan: RecordScan;
  readonly #references: ReferenceCheck;
  readonly #interactions: InteractionCheck;
  #mayWrite: Promise<void> | undefined;
  /** Resources that the key cannot read, so that rows were not checked against them. */
  readonly unchecked = new Set<string>();
  readonly replays = 0;

  constructor(parts: ImportParts, lookups: Lookups) {
    const { client, resource, input, interruption } = parts;
    const { signal } = interruption;
    this.#parts = parts;
    this.#scan = new RecordScan(client, input.rowCount, signal);
    const shared = { client, resource, lookups, scan: this.#scan, unchecked: this.unchecked, signal };
    this.#references = new ReferenceCheck(shared);
    this.#interactions = new InteractionCheck(shared);
  }

  close(): void {
    this.#scan.close();
  }

  /** The predicted result of each row of the batch; throws if the key cannot write. */
  async send(batch: PendingBatch): Promise<RowOutcome[]> {
    const { client, resource, interruption } = this.#parts;
    this.#mayWrite ??= assertCanCreate(client, resource.name, interruption.signal);
    await this.#mayWrite;
    await this.#references.prepare(batch.rows.flatMap((row) => ('body' in row ? [row.body] : [])));
    const outcomes: RowOutcome[] = [];
    for (const row of batch.rows) {
      outcomes.push(
        'rejection' in row
          ? { status: 'rejected', rejection: row.rejection }
          : await this.#check(row.body, row.line),
      );
    }
    return outcomes;
  }

  async #check(body: Data, line: number): Promise<RowOutcome> {
    const { resource, request } = this.#parts;
    const { onDuplicate } = request;
    const { keys } = this.#scan;
    const faults = await this.#references.faultsOf(body);
    const { fault, repeats } = await this.#interactions.check(body);
    if (fault !== null) faults.push(fault);
    if (faults.length > 0) return { status: 'rejected', rejection: rejectionOf(faults) };
    const conflicts = await this.#conflicts(body);
    const [conflict] = conflicts;
    const isUpdatable = onDuplicate === 'update' && new Set(conflicts.map(({ owner }) => owner)).size === 1;
    if (conflict !== undefined && onDuplicate !== 'skip' && !isUpdatable) {
      const { path, message } = conflict;
      return { status: 'rejected', rejection: { code: 'RESOURCE_CONFLICT', path, message } };
    }
    if (conflict !== undefined && onDuplicate === 'skip') return { status: 'skipped' };
    // A repetition of a record is not written again.
    const isRepeated = repeats.some((key) => keys.get(key) !== undefined);
    keys.addAll([...orderingKeys(resource, body), ...repeats].map((key) => [key, `${LINE}${line}`] as const));
    if (isRepeated) return { status: 'skipped' };
    return conflict === undefined ? { status: 'created' } : { status: 'updated' };
  }

  /** The current owners of the unique values of a body. */
  async #conflicts(body: Data): Promise<{ owner: string; path: string; message: string }[]> {
    const { resource } = this.#parts;
    const conflicts: { owner: string; path: string; message: string }[] = [];
    for (const unique of uniqueValues(resource, body)) {
      const owner = await this.#scan.ownerOf(resource.name, unique);
      if (owner === null) this.unchecked.add(resource.name);
      else if (owner !== undefined) {
        const whose = owner.startsWith(LINE) ? owner : `the ${resource.singular} ${owner}`;
        conflicts.push({
          owner,
          path: unique.path,
          message: `${duplicateMessage(resource, unique)}: ${whose}`,
        });
      }
    }
    return conflicts;
  }
}
