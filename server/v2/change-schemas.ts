// Schemas of changes.
import { type TSchema, Type } from 'typebox';
import { CHANGE_ACTIONS } from '../../db/changes/changes.ts';
import { exampleId } from '../../db/model/fields.ts';
import { RESOURCES } from '../../db/model/resources/registry.ts';
import { named, nullable } from '../../db/model/schemas.ts';

const NAMES = RESOURCES.map(({ name }) => name);
const closed = { additionalProperties: false };

/** Schema of `page_info` of a feed. */
export function feedPageInfoSchema(): TSchema {
  const sequence = (description: string, example: number) => ({
    ...nullable(Type.Integer({ minimum: 1 })),
    description: `${description} Null for user-bound keys, and if there is none.`,
    examples: [example],
  });
  return named(
    'FeedPageInfo',
    Type.Object(
      {
        has_next_page: Type.Boolean({
          description: 'Whether there are more changes to read.',
          examples: [true],
        }),
        end_cursor: Type.String({
          description: 'The cursor for what follows, also after an empty page.',
          examples: ['k3RvQm9uZ2U0Y3Vyc29yZm9ydGhlbmV4dHBhZ2U'],
        }),
        oldest: sequence('The first change that is kept.', 1),
        head: sequence('The last change.', 48_213),
      },
      closed,
    ),
  );
}

/** Schema of a change. */
export function changeSchema(): TSchema {
  const record = nullable(Type.Object({}, { additionalProperties: true }));
  const description = 'The record as it is now; null if it does not exist or the key cannot see it.';
  const examples = [{ id: exampleId('contacts'), first_name: 'Ada', last_name: 'Lovelace' }];
  const fields = { ...changeFields(), record: { ...record, description, examples } };
  return named('Change', Type.Object(fields, closed));
}

/** Schema of a change in the history of a record. */
export function historyChangeSchema(): TSchema {
  return named('HistoryChange', Type.Object(changeFields(), closed));
}

function changeFields(): Record<string, TSchema> {
  const text = (example: string) => Type.String({ examples: [example] });
  const record = (description: string) => ({
    ...nullable(Type.Object({}, { additionalProperties: true })),
    description,
  });
  const sequence = (description: string, example: number | null) => ({
    ...nullable(Type.Integer({ minimum: 1 })),
    description,
    examples: [example],
  });
  const actor = Type.Object(
    {
      type: Type.Enum(['key', 'operator']),
      id: { ...nullable(text(exampleId('keys'))), description: 'ID of the key; null for operators.' },
      user_id: { ...nullable(Type.String()), description: 'The user of a user-bound key.', examples: [null] },
    },
    { ...closed, description: 'Who made the change: a key, or an operator with a command.' },
  );
  const link = Type.Object(
    {
      name: { ...text('contacts'), description: 'As in the path: `deals/{id}/contacts`.' },
      resource: Type.Enum(NAMES, {
        description: 'The resource of the linked record.',
        examples: ['contacts'],
      }),
      id: { ...text(exampleId('contacts')), description: 'ID of the linked record.' },
      linked_at: Type.String({ format: 'date-time', examples: ['2026-01-01T00:00:00.000Z'] }),
    },
    { additionalProperties: true },
  );
  return {
    object: Type.Enum(['change']),
    sequence: sequence(
      'From 1 in each organization, without gaps, in order; null for user-bound keys.',
      48_213,
    ),
    at: Type.String({ format: 'date-time', description: 'When it happened.' }),
    action: Type.Enum([...CHANGE_ACTIONS]),
    resource: Type.Enum(NAMES, { description: 'The resource of the record.', examples: ['contacts'] }),
    record_id: {
      ...text(exampleId('contacts')),
      description: 'ID of the record; of a link, the parent.',
    },
    actor,
    request_id: { ...nullable(text('req_kZ3vQ8mT1xB6cJ0wYp4L')), description: 'Null for operators.' },
    cause: sequence('The sequence number of the change that caused this one.', null),
    before: record('Of an update, the former values of the fields that differ; of a delete, the record.'),
    after: record('Of an update, the new values of the fields that differ.'),
    link: { ...nullable(link), description: 'The link that was made, changed or removed.' },
  };
}
