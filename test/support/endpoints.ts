// Both endpoint tables of the contract and v2's general patterns, written down row by row.
import { CHANGEABLE, READ_ONLY } from './contract.ts';

export type Row = [method: string, path: string, scopes: string, success: string, body?: string];

/** The scopes that a row requires. */
export function scopesIn([, , scopes]: Row): string[] {
  return scopes === '' ? [] : scopes.split(' ');
}

// `{name}` stands for the id of a record of its own that the walk prepares; `success` is status, then envelope.
export const V1: Row[] = [
  ['GET', '/authenticate', 'ALL', '200 success'],
  ['GET', '/people/{contacts}', 'people:read', '200 success'],
  ['PATCH', '/people/{contacts}', 'people:write', '200 success', '{"title":"CTO"}'],
  ['DELETE', '/people/{contacts}', 'people:write', '204'],
  ['POST', '/people/query', 'people:read', '200 list', '{}'],
  [
    'POST',
    '/people',
    'people:write',
    '201 success',
    '{"type":"email","identifier":"$@a.test","firstName":"A"}',
  ],
  ['PUT', '/people', 'people:write', '200 success', '{"email":"$@a.test","firstName":"A"}'],
  ['GET', '/companies/{companies}', 'companies:read', '200 success'],
  ['PATCH', '/companies/{companies}', 'companies:write', '200 success', '{"name":"N"}'],
  ['DELETE', '/companies/{companies}', 'companies:remove', '204'],
  ['POST', '/companies', 'companies:write', '201 success', '{"domain":"$.test"}'],
  ['GET', '/interactions/{interactions}', 'interactions:read', '200 success'],
  ['POST', '/interactions/query', 'interactions:read', '200 list', '{}'],
  [
    'POST',
    '/interactions',
    'interactions:write',
    '201 success',
    '{"type":"EMAIL","direction":"INBOUND","title":"T","mainContact":"{contacts}"}',
  ],
];

const UPSERTS: Record<string, string> = {
  contacts: '"first_name":"A","email":"$@a.test"',
  companies: '"domain":"$.test"',
  deals: '"name":"D","external_id":{"source":"s","id":"$"}',
  pipelines: '"name":"P","external_id":{"source":"s","id":"$"}',
  tasks: '"name":"T","external_id":{"source":"s","id":"$"}',
  notes: '"title":"N","external_id":{"source":"s","id":"$"}',
  segments: '"name":"S","external_id":{"source":"s","id":"$"}',
};

const CHANGES: Record<string, string> = {
  contacts: '"title":"CTO"',
  companies: '"city":"Ulm"',
  deals: '"currency":"EUR"',
  pipelines: '"name":"Q"',
  tasks: '"done":true',
  notes: '"is_archived":true',
  segments: '"description":"D"',
};

// What every resource, or every one that clients delete, has alike.
const ALIKE: Row[] = [
  ...[...CHANGEABLE, 'interactions', ...READ_ONLY].flatMap((name): Row[] => [
    ['POST', `/${name}/batch/get`, `${name}:read`, '200 batch', `["{${name}}"]`],
    ['GET', `/${name}/{${name}}/history`, `${name}:read`, '200 list'],
    ['POST', `/${name}/query`, `${name}:read`, '200 list', '{"filter":{"id":{"is_null":false}}}'],
    ['POST', `/${name}/count`, `${name}:read`, '200 success', '{}'],
  ]),
  ...CHANGEABLE.flatMap((name): Row[] => [
    ['POST', `/${name}/batch/delete`, `${name}:delete`, '200 batch', `["{${name}}"]`],
    // Stands for a record that was deleted.
    ['POST', `/${name}/{deleted_${name}}/undelete`, `${name}:write`, '200 success'],
  ]),
];

/** The kinds of links, with the scopes that a list of them needs, and an item that makes one. */
const LINKS: [of: string, scopes: string, item: string][] = [
  ['deals.contacts', 'deals:read contacts:read', '"parent_id":"{deals}","id":"{contacts}"'],
  ['deals.companies', 'deals:read companies:read', '"parent_id":"{deals}","id":"{companies}"'],
  ['notes.records', 'notes:read', '"parent_id":"{notes}","id":"{contacts}"'],
  ['segments.members', 'segments:read', '"parent_id":"{segments}","id":"{contacts}"'],
  ['meetings.deal', 'meetings:read deals:read', '"parent_id":"{meetings}","id":"{deals}"'],
  ['meetings.company', 'meetings:read companies:read', '"parent_id":"{meetings}","id":"{companies}"'],
];
/** The kinds of links. */
export const KINDS = LINKS.map(([of]) => of);

const linkItems = (more: (of: string) => string) =>
  `[${LINKS.map(([of, , item]) => `{"of":"${of}",${item}${more(of)}}`).join()}]`;
const withType = (of: string) => (of === 'notes.records' ? ',"record_type":"contact"' : '');

// Items of a kind that the key may not write fail one by one.
const BULK_LINKS: Row[] = [
  ...LINKS.map(([of, scopes]): Row => ['GET', `/links?of=${of}`, scopes, '200 list']),
  ['POST', '/links/batch', '', '200 batch', linkItems(withType)],
  ['POST', '/links/batch/delete', '', '200 batch', linkItems(() => '')],
];

const V2: Row[] = [
  ...Object.entries(UPSERTS).flatMap(([name, fields]): Row[] => [
    ['POST', `/${name}/upsert`, `${name}:write`, '201 success', `{${fields}}`],
    ['POST', `/${name}/batch/upsert`, `${name}:write`, '200 batch', `[{${fields}}]`],
  ]),
  ...Object.entries(CHANGES).map(
    ([name, change]): Row => [
      'POST',
      `/${name}/batch/update`,
      `${name}:write`,
      '200 batch',
      `[{"id":"{${name}}",${change}}]`,
    ],
  ),
  ...ALIKE,
  ...BULK_LINKS,
  // Kinds that the key cannot read are left out.
  ...['contacts', 'companies', 'deals'].map(
    (name): Row => ['GET', `/${name}/{${name}}/timeline`, `${name}:read`, '200 list'],
  ),
  ['GET', '/authenticate', '', '200 success'],
  ['GET', '/search?q=a&types=contacts', 'contacts:read', '200 list'],
  ['GET', '/changes?resource=contacts', 'contacts:read', '200 list'],
  ['GET', '/changes/stream?resource=contacts', 'contacts:read', '200 stream'],
  ['GET', '/webhooks', 'webhooks:read', '200 list'],
  [
    'POST',
    '/webhooks',
    'webhooks:write contacts:read',
    '201 success',
    '{"url":"https://$.example.com/","events":["contacts.created"]}',
  ],
  ['GET', '/webhooks/{webhooks}', 'webhooks:read', '200 success'],
  // Changing or using one needs what the key needed that made it.
  ['PATCH', '/webhooks/{webhooks}', 'webhooks:write contacts:read', '200 success', '{"description":"D"}'],
  ['DELETE', '/webhooks/{webhooks}', 'webhooks:write contacts:read', '204'],
  ['POST', '/webhooks/{webhooks}/ping', 'webhooks:write contacts:read', '200 success'],
  ['POST', '/webhooks/{webhooks}/rotate', 'webhooks:write contacts:read', '200 success'],
  ['POST', '/webhooks/{webhooks}/replay', 'webhooks:write contacts:read', '200 success', '{"since":"0"}'],
  ['GET', '/webhooks/{webhooks}/deliveries', 'webhooks:read', '200 list'],
  ['GET', '/contacts', 'contacts:read', '200 list'],
  ['POST', '/contacts', 'contacts:write', '201 success', '{"first_name":"A"}'],
  ['GET', '/contacts/{contacts}', 'contacts:read', '200 success'],
  ['PATCH', '/contacts/{contacts}', 'contacts:write', '200 success', '{"title":"CTO"}'],
  ['DELETE', '/contacts/{contacts}', 'contacts:delete', '204'],
  ['POST', '/contacts/batch', 'contacts:write', '200 batch', '[{"first_name":"A"}]'],
  ['GET', '/companies', 'companies:read', '200 list'],
  ['POST', '/companies', 'companies:write', '201 success', '{"name":"A"}'],
  ['GET', '/companies/{companies}', 'companies:read', '200 success'],
  ['PATCH', '/companies/{companies}', 'companies:write', '200 success', '{"city":"Ulm"}'],
  ['DELETE', '/companies/{companies}', 'companies:delete', '204'],
  ['POST', '/companies/batch', 'companies:write', '200 batch', '[{"name":"A"}]'],
  ['GET', '/deals', 'deals:read', '200 list'],
  ['POST', '/deals', 'deals:write', '201 success', '{"name":"D"}'],
  ['GET', '/deals/{deals}', 'deals:read', '200 success'],
  ['PATCH', '/deals/{deals}', 'deals:write', '200 success', '{"currency":"EUR"}'],
  ['DELETE', '/deals/{deals}', 'deals:delete', '204'],
  ['POST', '/deals/batch', 'deals:write', '200 batch', '[{"name":"D"}]'],
  ['GET', '/deals/{deals}/contacts', 'deals:read contacts:read', '200 list'],
  ['POST', '/deals/{deals}/contacts', 'deals:write', '200 success', '{"contact_id":"{contacts}"}'],
  ['DELETE', '/deals/{linked}/contacts/{child}', 'deals:write', '204'],
  ['GET', '/deals/{deals}/companies', 'deals:read companies:read', '200 list'],
  ['POST', '/deals/{deals}/companies', 'deals:write', '200 success', '{"company_id":"{companies}"}'],
  ['DELETE', '/deals/{dealing}/companies/{firm}', 'deals:write', '204'],
  ['GET', '/pipelines', 'pipelines:read', '200 list'],
  ['POST', '/pipelines', 'pipelines:write', '201 success', '{"name":"P"}'],
  ['GET', '/pipelines/{pipelines}', 'pipelines:read', '200 success'],
  ['PATCH', '/pipelines/{pipelines}', 'pipelines:write', '200 success', '{"name":"Q"}'],
  ['DELETE', '/pipelines/{pipelines}', 'pipelines:delete', '204'],
  ['POST', '/pipelines/batch', 'pipelines:write', '200 batch', '[{"name":"P"}]'],
  ['GET', '/tasks', 'tasks:read', '200 list'],
  ['POST', '/tasks', 'tasks:write', '201 success', '{"name":"T"}'],
  ['GET', '/tasks/{tasks}', 'tasks:read', '200 success'],
  ['PATCH', '/tasks/{tasks}', 'tasks:write', '200 success', '{"done":true}'],
  ['DELETE', '/tasks/{tasks}', 'tasks:delete', '204'],
  ['POST', '/tasks/batch', 'tasks:write', '200 batch', '[{"name":"T"}]'],
  ['GET', '/notes', 'notes:read', '200 list'],
  ['POST', '/notes', 'notes:write', '201 success', '{"title":"N"}'],
  ['GET', '/notes/{notes}', 'notes:read', '200 success'],
  ['PATCH', '/notes/{notes}', 'notes:write', '200 success', '{"is_archived":true}'],
  ['DELETE', '/notes/{notes}', 'notes:delete', '204'],
  ['POST', '/notes/batch', 'notes:write', '200 batch', '[{"title":"N"}]'],
  ['GET', '/notes/{notes}/records', 'notes:read', '200 list'],
  [
    'POST',
    '/notes/{notes}/records',
    'notes:write',
    '200 success',
    '{"record_type":"deal","record_id":"{deals}"}',
  ],
  ['DELETE', '/notes/{noted}/records/{subject}', 'notes:write', '204'],
  ['GET', '/segments', 'segments:read', '200 list'],
  ['POST', '/segments', 'segments:write', '201 success', '{"name":"S"}'],
  ['GET', '/segments/{segments}', 'segments:read', '200 success'],
  ['PATCH', '/segments/{segments}', 'segments:write', '200 success', '{"description":"D"}'],
  ['DELETE', '/segments/{segments}', 'segments:delete', '204'],
  ['POST', '/segments/batch', 'segments:write', '200 batch', '[{"name":"S"}]'],
  ['GET', '/segments/{segments}/members', 'segments:read contacts:read', '200 list'],
  ['POST', '/segments/{segments}/members', 'segments:write', '200 success', '{"record_id":"{contacts}"}'],
  ['DELETE', '/segments/{joined}/members/{member}', 'segments:write', '204'],
  ['GET', '/interactions', 'interactions:read', '200 list'],
  [
    'POST',
    '/interactions',
    'interactions:write',
    '201 success',
    '{"type":"MEMO","direction":"INTERNAL","title":"T","main_contact":"{contacts}"}',
  ],
  ['GET', '/interactions/{interactions}', 'interactions:read', '200 success'],
  [
    'POST',
    '/interactions/batch',
    'interactions:write',
    '200 batch',
    '[{"type":"MEMO","direction":"INTERNAL","title":"T","main_contact_email":"$@b.test"}]',
  ],
  ['GET', '/meetings', 'meetings:read', '200 list'],
  ['GET', '/meetings/{meetings}', 'meetings:read', '200 success'],
  ['GET', '/meetings/{meetings}/deal', 'meetings:read deals:read', '200 success'],
  ['PUT', '/meetings/{meetings}/deal', 'meetings:write', '200 success', '{"deal_id":"{deals}"}'],
  ['DELETE', '/meetings/{meetings}/deal', 'meetings:write', '204'],
  ['GET', '/meetings/{meetings}/company', 'meetings:read companies:read', '200 success'],
  ['PUT', '/meetings/{meetings}/company', 'meetings:write', '200 success', '{"company_id":"{companies}"}'],
  ['DELETE', '/meetings/{meetings}/company', 'meetings:write', '204'],
  ['GET', '/recordings', 'recordings:read', '200 list'],
  ['GET', '/recordings/{recordings}', 'recordings:read', '200 success'],
  ['GET', '/bookings', 'bookings:read', '200 list'],
  ['GET', '/bookings/{bookings}', 'bookings:read', '200 success'],
  ...CHANGEABLE.flatMap((name): Row[] => {
    const path = `/${name}/{${name}}/external_ids`;
    return [
      ['GET', path, `${name}:read`, '200 list'],
      ['POST', path, `${name}:write`, '200 success', '{"source":"walk","id":"$"}'],
      // `{source}` stands for a source that the record has an external ID of.
      ['DELETE', `${path}/{source}`, `${name}:write`, '204'],
    ];
  }),
];

export const ROWS: Row[] = [
  ...V1.map(([method, path, ...rest]): Row => [method, `/api/v1${path}`, ...rest]),
  ...V2.map(([method, path, ...rest]): Row => [method, `/api/v2${path}`, ...rest]),
];
