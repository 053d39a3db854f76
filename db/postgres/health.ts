// Whether the database can be reached and served from here; reports each change to the operator once.
import type { DatabaseError } from '../database-error.ts';
import type { PostgresAddress } from './address.ts';
import { clockError, type Runner } from './clock-check.ts';
import { explainOpening, type PostgresError, sqlState } from './errors.ts';

// Existing connections still work.
const TOO_MANY_CONNECTIONS = '53300';

export class Health {
  readonly #address: PostgresAddress;
  readonly #onChange: (trouble: DatabaseError | null) => void;
  #isLost = false;
  #clock: PostgresError | null = null;

  constructor(address: PostgresAddress, onChange: (trouble: DatabaseError | null) => void = () => undefined) {
    this.#address = address;
    this.#onChange = onChange;
  }

  /** Why the clock keeps this machine from serving; null if it does not. */
  get clock(): PostgresError | null {
    return this.#clock;
  }

  /** Explains why a connection could not be opened. */
  async explain(error: unknown): Promise<PostgresError> {
    const explained = await explainOpening(this.#address, error);
    if (!this.#isLost && sqlState(error) !== TOO_MANY_CONNECTIONS) {
      this.#isLost = true;
      this.#onChange(explained);
    }
    return explained;
  }

  noteReached(): void {
    if (!this.#isLost) return;
    this.#isLost = false;
    this.#onChange(null);
  }

  async checkClock(runner: Runner): Promise<void> {
    const before = this.#clock;
    // If the database cannot be asked, reads and writes report that.
    this.#clock = await clockError(this.#address, runner).catch(() => before);
    if ((this.#clock === null) !== (before === null)) this.#onChange(this.#clock);
  }
}
