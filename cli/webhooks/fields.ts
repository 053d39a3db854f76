// The fields of webhooks on the command line, and how webhooks and deliveries look.
import { boolean, type Field, text } from '../../db/model/fields.ts';
import { idSegment } from '../api/target.ts';
import type { ColumnLayout } from '../terminal/output.ts';

/** The fields that `create` and `update` take. */
export const WEBHOOK_FIELDS: Readonly<Record<string, Field>> = {
  url: text({ required: true, example: 'https://example.com/hooks' }),
  // Separated by commas.
  events: { ...text({ required: true, example: 'contacts.created,deals.*' }), kind: 'references' },
  description: text({ example: 'For billing' }),
  is_enabled: boolean({ example: true }),
};

/** The look of webhooks. */
export const WEBHOOK_LOOK: ColumnLayout = {
  columns: ['id', 'url', 'events', 'is_enabled', 'disabled_reason', 'pending_count', 'last_success_at'],
  allFields: [
    ...['id', 'url', 'events', 'description', 'is_enabled', 'disabled_reason', 'key_id', 'pending_count'],
    ...['last_success_at', 'skipped_at', 'created_at', 'updated_at'],
  ],
};

const DELIVERY_FIELDS = [
  ...['at', 'type', 'sequence', 'attempt', 'outcome', 'status', 'ms', 'next_attempt_at', 'id'],
];

/** The look of deliveries. */
export const DELIVERY_LOOK: ColumnLayout = { columns: DELIVERY_FIELDS, allFields: DELIVERY_FIELDS };

/** The path of webhooks, of one, or of what belongs to one. */
export function webhookPath(id?: string, rest = ''): string {
  return `/api/v2/webhooks${id === undefined ? '' : `/${idSegment(id)}`}${rest}`;
}
