// Stages as a create takes them: what an export says beyond that, the service gives anew.
import type { JsonValue } from '../../../db/model/json.ts';
import { isObject } from '../../../db/model/json.ts';

/** Stages without the ids and positions that an exported pipeline has. */
export function stagesToCreate(stages: JsonValue): JsonValue {
  if (!Array.isArray(stages)) return stages;
  return stages.map((stage) => {
    if (!isObject(stage)) return stage;
    const { id: _id, position: _position, ...rest } = stage;
    return rest;
  });
}
