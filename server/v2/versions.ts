// Versions of a record: the ETag of a get, and the check of If-Match before a change.

import { andThen, type Eventually } from '../../db/engine/engine.ts';
import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { ApiError } from '../errors.ts';
import type { RecordVersion, WriteCall } from '../operation.ts';
import { entityTag, IF_MATCH, namesVersion } from '../pipeline/preconditions.ts';
import { getRecord } from '../records/records.ts';

/** The version of a record, whose JSON is all that the response shows. */
export function versionOf(record: Data): RecordVersion {
  const json = JSON.stringify(record);
  return { etag: entityTag(json), json };
}

/**
 * Rejects a change to a version of the record that `If-Match` does not name.
 * @throws ApiError 404 if it does not exist or the key cannot see it, 409 if it has another version
 */
export function requireVersion(call: WriteCall, resource: Resource, id: string): Eventually<void> {
  const { ifMatch } = call;
  if (ifMatch === null) return;
  return andThen(getRecord(call, resource, id), (record) => {
    if (!namesVersion(ifMatch, versionOf(record).etag)) throw anotherVersion(resource);
  });
}

function anotherVersion({ singular }: Resource): ApiError {
  const message = `must name the current version of the ${singular}; get it again and use its ETag`;
  return new ApiError('RESOURCE_CONFLICT', `${IF_MATCH}: ${message}`, {
    details: [{ path: IF_MATCH, message, code: 'RESOURCE_CONFLICT' }],
  });
}
