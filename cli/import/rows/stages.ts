// Converts exported stages for creation: the service assigns new IDs and positions.
import type { JsonValue } from '../../../db/model/json.ts';
import { isObject } from '../../../db/model/json.ts';

/** Stages without the IDs and positions of an exported pipeline. */
export function stagesToCreate(stages: JsonValue): JsonValue {
  if (!Array.isArray(stages)) return stages;
  return stages.map((stage) => {
    if (!isObject(stage)) return stage;
    const { id: _id, position: _position, ...rest } = stage;
    return rest;
  });
}
