// `include` and `fields`: as query parameters, as properties of a body, and what they select.
import { type TSchema, Type } from 'typebox';
import type { JsonValue } from '../../db/model/json.ts';
import { RELATED_MAX, type Resource } from '../../db/model/resource.ts';
import { INCLUDES_MAX, includesOf } from '../../db/model/resources/includes.ts';
import type { Call, QueryParameter } from '../operation.ts';
import { requireScope } from '../pipeline/scope.ts';
import { type Selection, shownFields, WHOLE } from '../records/selections.ts';

/** The parameter `include` of what shows records of a resource. */
export function includeParameter(resource: Resource): Record<string, QueryParameter> {
  const names = Object.keys(includesOf(resource));
  const description =
    `Also return what each ${resource.singular} refers to or is linked to: the newest ${RELATED_MAX} of each name, under ` +
    '`included`. Send it several times for several names. Each needs the scope for reading it.';
  return { include: { type: names, timesMax: INCLUDES_MAX, description } };
}

/** The parameters `include` and `fields` of a list. */
export function selectionParameters(resource: Resource): Record<string, QueryParameter> {
  const names = shownFields(resource);
  const description = 'Return only this field, besides `id`. Send it several times for several fields.';
  return { ...includeParameter(resource), fields: { type: names, timesMax: names.length, description } };
}

/** The properties `include` and `fields` of a body that asks for a list. */
export function selectionProperties(resource: Resource): Record<string, TSchema> {
  const { include, fields } = selectionParameters(resource);
  return Object.fromEntries(
    Object.entries({ include, fields }).map(([name, parameter]) => {
      const { type, timesMax = 1, description = '' } = parameter ?? {};
      const items = Type.Enum([...(Array.isArray(type) ? type : [])]);
      return [name, Type.Optional(Type.Array(items, { maxItems: timesMax, description }))];
    }),
  );
}

/**
 * What a request selects by valid values of `include` and `fields`.
 * @throws ApiError 403 if the key cannot read something that it includes
 */
export function selectionOf(
  { access }: Pick<Call, 'access'>,
  resource: Resource,
  { include, fields }: Readonly<Record<string, JsonValue>>,
): Selection {
  if (include === undefined && fields === undefined) return WHOLE;
  const names = new Set(listOf(include));
  const includes = Object.values(includesOf(resource)).filter(({ name }) => names.has(name));
  for (const { scope } of includes) if (scope !== null) requireScope(access, scope);
  return { includes, fields: fields === undefined ? null : new Set(listOf(fields)) };
}

function listOf(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
