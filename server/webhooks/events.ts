// What a webhook subscribes to: every change, those of a resource, or one kind of them.

import { CHANGE_ACTIONS } from '../../db/changes/changes.ts';
import type { WebhookRow } from '../../db/engine/webhook-rows.ts';
import type { Fault } from '../../db/model/faults.ts';
import { RESOURCES } from '../../db/model/resources/registry.ts';
import { type Access, mayRead } from '../access.ts';

/** Subscribes to every change. */
export const EVERY_EVENT = '*';

/** Maximum number of entries in the list of a webhook. */
export const EVENTS_MAX = 100;

const ACTIONS: readonly string[] = ['*', ...CHANGE_ACTIONS];
const NAMES: readonly string[] = RESOURCES.map(({ name }) => name);

/** What a webhook subscribes to. */
export function eventsOf({ events }: Pick<WebhookRow, 'events'>): string[] {
  return JSON.parse(events) as string[];
}

/** Whether a list subscribes to an event such as `contacts.created`. */
export function isSubscribed(events: readonly string[], type: string): boolean {
  const [resource] = type.split('.');
  return events.includes(EVERY_EVENT) || events.includes(`${resource}.*`) || events.includes(type);
}

/** The resources that a list subscribes to by name; `*` names none. */
export function namedResources(events: readonly string[]): string[] {
  const names = events.filter((event) => event !== EVERY_EVENT).map((event) => event.split('.')[0] ?? '');
  return [...new Set(names)];
}

/** The resources whose changes a list subscribes to, of those that a key can read. */
export function subscribedResources(events: readonly string[], access: Access): string[] {
  const named = namedResources(events);
  const isWanted = (name: string) => events.includes(EVERY_EVENT) || named.includes(name);
  return RESOURCES.filter((one) => isWanted(one.name) && mayRead(access, one)).map(({ name }) => name);
}

/** What is wrong with a list of texts. */
export function eventFaults(events: readonly string[]): Fault[] {
  return events.flatMap((event, index): Fault[] => {
    const path = `events.${index}`;
    if (!isEvent(event)) {
      const message =
        'must be *, RESOURCE.* such as deals.*, or RESOURCE.ACTION such as contacts.created; ' +
        `the actions are ${CHANGE_ACTIONS.join(', ')}`;
      return [{ path, message, code: 'VALIDATION_FAILED' }];
    }
    if (events.indexOf(event) < index)
      return [{ path, message: 'must not repeat an earlier entry', code: 'VALIDATION_FAILED' }];
    return [];
  });
}

function isEvent(text: string): boolean {
  if (text === EVERY_EVENT) return true;
  const [resource = '', action = '', ...rest] = text.split('.');
  return NAMES.includes(resource) && ACTIONS.includes(action) && rest.length === 0;
}
