// What a webhook subscribes to, and what can be in its list.
import { expect, test } from 'bun:test';
import type { Access } from '../../server/access.ts';
import {
  eventFaults,
  isSubscribed,
  namedResources,
  subscribedResources,
} from '../../server/webhooks/events.ts';

const access = (...scopes: string[]) => ({ scopes: new Set(scopes) }) as unknown as Access;

test.each([
  [['*'], 'deals.deleted', true],
  [['deals.*'], 'deals.deleted', true],
  [['deals.deleted'], 'deals.deleted', true],
  [['deals.created', 'contacts.deleted'], 'deals.deleted', false],
  [['deal.*', 'dealsx.*'], 'deals.deleted', false],
])('%p subscribes to %s: %p', (events, type, expected) => {
  expect(isSubscribed(events, type)).toBe(expected);
});

test('* stands for every resource that the key can read, names for themselves', () => {
  const reader = access('contacts:read', 'deals:read');
  expect(subscribedResources(['*'], reader).sort()).toEqual(['contacts', 'deals']);
  expect(subscribedResources(['deals.created', 'tasks.*'], reader)).toEqual(['deals']);
  expect(namedResources(['*', 'deals.created', 'deals.*', 'tasks.linked'])).toEqual(['deals', 'tasks']);
});

test('each wrong entry has its fault', () => {
  expect(eventFaults(['*', 'contacts.*', 'meetings.created', 'deals.undeleted'])).toEqual([]);
  for (const wrong of [
    '',
    'contacts',
    'contacts.',
    '.created',
    'contacts.made',
    'nope.created',
    '*.*',
    'a.b.c',
  ])
    expect(eventFaults([wrong])).toEqual([expect.objectContaining({ path: 'events.0' })]);
  expect(eventFaults(['*', 'deals.*', '*'])).toEqual([
    { path: 'events.2', message: 'must not repeat an earlier entry', code: 'VALIDATION_FAILED' },
  ]);
});
