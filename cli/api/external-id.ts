// External IDs on the command line, written as SOURCE:ID.
import { EXTERNAL_ID_EXAMPLE, type ExternalId, parseExternalIdName } from '../../db/model/external-ids.ts';
import { usageError } from '../errors.ts';

/** The external ID that a word names; throws a usage error if it does not have the form SOURCE:ID. */
export function externalIdOf(name: string): ExternalId {
  const externalId = parseExternalIdName(name);
  if (externalId !== undefined) return externalId;
  throw usageError(
    `"${name}" does not have the form SOURCE:ID.`,
    `use a value such as ${EXTERNAL_ID_EXAMPLE}. A source has only a to z, 0 to 9, _, . and -.`,
  );
}
