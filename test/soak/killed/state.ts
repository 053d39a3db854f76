// What can be found of a record.

/** Of a record that is not there. */
export const ABSENT = Symbol('absent');

/** What a record says: a contact's title, the names of a pipeline's stages. */
export type State = string | typeof ABSENT;
