// Problems with a database, in words for the operator.

/** A database that cannot be used; its message and next steps are for people. */
export class DatabaseError extends Error {
  readonly nextSteps: readonly string[];
  constructor(message: string, nextSteps: readonly string[], cause?: unknown) {
    super(message, { cause });
    this.name = 'DatabaseError';
    this.nextSteps = nextSteps;
  }
}

/** A database that is named in an invalid way. */
export class DatabaseAddressError extends DatabaseError {
  constructor(message: string, nextSteps: readonly string[]) {
    super(message, nextSteps);
    this.name = 'DatabaseAddressError';
  }
}
