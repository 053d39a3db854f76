// Schemas of webhooks, of what clients send about them, and of deliveries.
import { type TSchema, Type } from 'typebox';
import { exampleId, idSchema } from '../../db/model/fields.ts';
import { named, nullable } from '../../db/model/schemas.ts';
import { DELIVERY_OUTCOMES } from '../../db/webhooks/deliveries.ts';
import { DISABLED_REASONS } from '../../db/webhooks/webhooks.ts';
import { EVENTS_MAX } from '../webhooks/events.ts';
import { COUNTED_CHANGES_MAX } from '../webhooks/shown.ts';
import { URL_CHARACTERS_MAX } from '../webhooks/target-url.ts';

const DESCRIPTION_CHARACTERS_MAX = 1_000;
const closed = { additionalProperties: false };

const url = Type.String({
  minLength: 1,
  maxLength: URL_CHARACTERS_MAX,
  description:
    'Where changes are sent: an https URL of a public host, on port 443 or 8443. The operator can allow networks that are not public.',
  examples: ['https://example.com/hooks/crm'],
});
const events = Type.Array(Type.String(), {
  minItems: 1,
  maxItems: EVENTS_MAX,
  description:
    'What is sent: `*` for every change that the key can read, `deals.*` for those of a resource, `contacts.created` for one kind.',
  examples: [['contacts.created', 'deals.*']],
});
const description = nullable(
  Type.String({
    maxLength: DESCRIPTION_CHARACTERS_MAX,
    description: 'What it is for, in your words.',
    examples: ['Keeps the billing system up to date'],
  }),
);
const isEnabled = Type.Boolean({
  description: 'Whether changes are sent. Default: `true`.',
  examples: [true],
});

/** Schema of the body that creates a webhook. */
export const createWebhookSchema = named(
  'WebhookCreate',
  Type.Object(
    { url, events, description: Type.Optional(description), is_enabled: Type.Optional(isEnabled) },
    closed,
  ),
);

/** Schema of the body that changes a webhook. */
export const updateWebhookSchema = named(
  'WebhookUpdate',
  Type.Object(
    {
      url: Type.Optional(url),
      events: Type.Optional(events),
      description: Type.Optional(description),
      is_enabled: Type.Optional(isEnabled),
    },
    closed,
  ),
);

const readOnly = (schema: TSchema): TSchema => ({ ...schema, readOnly: true });
const instant = (text: string, example: string | null = '2026-01-31T09:30:00.000Z') =>
  readOnly({
    ...nullable(Type.String({ format: 'date-time' })),
    description: text,
    examples: [example],
  });

const fields = {
  id: readOnly(idSchema({ examples: [exampleId('webhooks')] })),
  url,
  events,
  description,
  is_enabled: isEnabled,
  disabled_reason: readOnly({
    ...nullable(Type.Enum([...DISABLED_REASONS])),
    description:
      'Why the service disabled it: the key that made it was revoked or has expired, the URL responded with 410, or nothing ' +
      'arrived for 5 days. Null if it is enabled, or if a client disabled it.',
    examples: [null],
  }),
  key_id: readOnly({
    ...nullable(Type.String()),
    description: 'The key that made it. The webhook gets what that key can read.',
    examples: [exampleId('keys')],
  }),
  pending_count: readOnly(
    Type.Integer({
      minimum: 0,
      description: `Changes that it is still to get. Counts those that wait for another attempt, and at most the next ${COUNTED_CHANGES_MAX} of the log.`,
      examples: [0],
    }),
  ),
  last_success_at: instant('When the URL last responded with 2xx.'),
  skipped_at: instant(
    'When it last skipped changes because they were no longer kept. Copy the records again if you need them.',
    null,
  ),
  created_at: readOnly(Type.String({ format: 'date-time', examples: ['2026-01-01T00:00:00.000Z'] })),
  updated_at: readOnly(Type.String({ format: 'date-time', examples: ['2026-01-01T00:00:00.000Z'] })),
};

/** Schema of a webhook. */
export const webhookSchema = named('Webhook', Type.Object(fields, closed));

/** Schema of a webhook with a new secret. */
export const webhookSecretSchema = named(
  'WebhookWithSecret',
  Type.Object(
    {
      ...fields,
      secret: readOnly(
        Type.String({
          description:
            'Signs what is sent, as in the Standard Webhooks specification. Shown only in this response: store it.',
          examples: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDC2FVsBQIhrs='],
        }),
      ),
    },
    closed,
  ),
);

/** Schema of the body that replays changes. */
export const replaySchema = named(
  'WebhookReplay',
  Type.Object(
    {
      since: Type.Optional(
        Type.Unsafe({
          type: ['string', 'integer'],
          description:
            'Changes at or after this time, in RFC 3339 or Unix milliseconds. Instead of `from` and `to`.',
          examples: ['2026-01-31T09:30:00Z'],
        }),
      ),
      from: Type.Optional(
        Type.Integer({
          minimum: 1,
          description: 'The sequence number of the first change.',
          examples: [48_001],
        }),
      ),
      to: Type.Optional(
        Type.Integer({
          minimum: 1,
          description: 'The sequence number of the last change.',
          examples: [48_213],
        }),
      ),
    },
    closed,
  ),
);

const sequence = (text: string, example: number) => ({
  ...nullable(Type.Integer({ minimum: 1 })),
  description: text,
  examples: [example],
});

/** Schema of the response to a replay. */
export const replayedSchema = named(
  'WebhookReplayed',
  Type.Object(
    {
      from: sequence(
        'The first change that is looked at. Null for user-bound keys, and if there is no change since that time.',
        48_001,
      ),
      to: sequence('The last change that is looked at; null like `from`.', 48_213),
    },
    closed,
  ),
);

/** Schema of a delivery. */
export const deliverySchema = named(
  'WebhookDelivery',
  Type.Object(
    {
      id: idSchema({ examples: [exampleId('deliveries')] }),
      sequence: sequence(
        'The sequence number of the change; null for a ping, and for user-bound keys.',
        48_213,
      ),
      type: Type.String({
        description: '`ping`, or what happened to which resource.',
        examples: ['contacts.updated'],
      }),
      attempt: Type.Integer({ minimum: 1, description: 'From 1 for each change.', examples: [1] }),
      at: Type.String({ format: 'date-time', examples: ['2026-01-31T09:30:00.000Z'] }),
      ms: {
        ...nullable(Type.Integer({ minimum: 0 })),
        description: 'How long the attempt took, in milliseconds.',
        examples: [84],
      },
      status: {
        ...nullable(Type.Integer()),
        description: 'The HTTP status of the response; null if there was none.',
        examples: [200],
      },
      outcome: Type.Enum([...DELIVERY_OUTCOMES], {
        description:
          '`pending` (not tried yet), `delivered` (2xx), `failed` (another status, or no valid HTTP response), `redirect` (3xx, which is not followed), `gone` ' +
          '(410; to a change, it disables the webhook), `timeout`, `unreachable` (no address or no connection), `tls` (no valid ' +
          'certificate), `blocked` (an address that is not public).',
        examples: ['delivered'],
      }),
      next_attempt_at: {
        ...nullable(Type.String({ format: 'date-time' })),
        description: 'When it is tried again; null if it is not.',
        examples: [null],
      },
    },
    closed,
  ),
);
