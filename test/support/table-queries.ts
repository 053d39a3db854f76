// Everything that the tables ask of a database, told with what it may cost: for what has to be read, whatever the engine.

import { findUserByEmail } from '../../db/accounts/accounts.ts';
import { findActors } from '../../db/accounts/change-actors.ts';
import { findKeyByHash, findKeysByNumber } from '../../db/accounts/keys.ts';
import { findLogState, findPlacedLog } from '../../db/changes/log-state.ts';
import { findSequenceAt } from '../../db/changes/places.ts';
import { findUpdates, listChanges } from '../../db/changes/queries.ts';
import type { RecordRow, RecordTrx } from '../../db/engine/schema.ts';
import { hasExternalIds, type Match, type Resource, type SideTable } from '../../db/model/resource.ts';
import { contacts } from '../../db/model/resources/contacts.ts';
import { includesOf } from '../../db/model/resources/includes.ts';
import { LINK_KINDS } from '../../db/model/resources/link-kinds.ts';
import { getResource, RESOURCES } from '../../db/model/resources/registry.ts';
import { SEARCHED_RESOURCES } from '../../db/model/searched.ts';
import { deleteRecords } from '../../db/records/deletion.ts';
import { columnsTo } from '../../db/records/dependents.ts';
import { findByExternalIds, findByStart } from '../../db/records/external-ids.ts';
import { findDuplicate, findOrigins } from '../../db/records/interactions.ts';
import { deleteLinks, findLinkEnds, findLinks } from '../../db/records/link-batches.ts';
import { countLinks, findLink, listLinks } from '../../db/records/links.ts';
import {
  findFirstStage,
  findOldestPipeline,
  findStages,
  findStagesInUse,
  listStages,
} from '../../db/records/pipelines.ts';
import { listRecords } from '../../db/records/query.ts';
import {
  deleteExternalId,
  listExternalIds,
  lookUpExternalIds,
} from '../../db/records/record-external-ids.ts';
import { fillReferences } from '../../db/records/record-updates.ts';
import { listRecordingsOf } from '../../db/records/recordings.ts';
import { findRecords } from '../../db/records/records.ts';
import { listRelatedIds } from '../../db/records/related-ids.ts';
import { findUnset } from '../../db/records/restored-dependents.ts';
import { removeTies, setInTies } from '../../db/records/ties.ts';
import { findTranscript } from '../../db/records/transcripts.ts';
import { findOwners } from '../../db/records/unique.ts';
import { findIdentified } from '../../db/search/identified.ts';
import { type IndexKey, runKeyStart } from '../../db/search/keys.ts';
import { findFewRowsFrom, findRowsFrom, removeFirstRows, removeRowsBefore } from '../../db/search/lists.ts';
import { findParts, findPartsBefore, findPartsWithin } from '../../db/search/parts.ts';
import { findPendingIds, findPendingTimes } from '../../db/search/pending.ts';
import { findRecordsAt } from '../../db/search/records.ts';
import { findRuns } from '../../db/search/runs.ts';
import { findSearchState } from '../../db/search/state.ts';
import { findContactsByEmail } from '../../db/tables/contact-emails.ts';
import { textBytes } from '../../db/tables/id-bytes.ts';
import { findStoredResponse, purgeStoredResponses } from '../../db/tables/idempotency.ts';
import { listInvolved } from '../../db/tables/involved-records.ts';
import { type KindQuery, listLinksOfKind } from '../../db/tables/link-lists.ts';
import type { ListQuery } from '../../db/tables/list-query.ts';
import { smallestId } from '../../db/tables/record-id.ts';
import { findSegmentTexts } from '../../db/tables/transcript-texts.ts';
import { findUsersById } from '../../db/tables/users.ts';
import {
  addEntries,
  addMissingEntries,
  moveEntries,
  removeEntries,
  removeSequence,
  subjectBytes,
} from '../../db/timeline/entries.ts';
import { listTimeline } from '../../db/timeline/pages.ts';
import { forgetRecords } from '../../db/timeline/removal.ts';
import { TIMELINE_SOURCES } from '../../db/timeline/sources.ts';
import { findDealEnds, findDealLinks, findStageNames, listDealContacts } from '../../db/timeline/subjects.ts';
import { finishPing, listDeliveries } from '../../db/webhooks/deliveries.ts';
import {
  findWebhookWork,
  listPendingPings,
  releaseLease,
  renewLease,
  takeLease,
} from '../../db/webhooks/leases.ts';
import { saveProgress } from '../../db/webhooks/progress.ts';
import {
  countWaiting,
  deletePass,
  deleteWaitingBefore,
  insertPass,
  listPasses,
  listWaiting,
  movePass,
  retryWaitingAt,
} from '../../db/webhooks/queue.ts';
import {
  countWebhooks,
  deleteWebhook,
  disableWebhook,
  findWebhook,
  listEnabledWebhooksOf,
  listWebhooks,
  updateWebhook,
} from '../../db/webhooks/webhooks.ts';

export interface Question {
  title: string;
  /** Ask it of one organization, each in one of its forms. */
  forms: readonly ((db: RecordTrx, orgNumber: number) => unknown)[];
  /** Whether it is about the whole organization, and is answered in its order. */
  isOfAll: boolean;
  /** Whether what is found may be sorted: there is little of it, or it is found by range. */
  maySort: boolean;
  /** Whether what is tied to a record may all be looked at for what a user sees of it. */
  maySift: boolean;
  /** Whether two tables are joined: while the organization has few rows, the server may read them all. */
  mayJoin?: true;
  /** Whether all rows of the organization are read, of which there are few. */
  readsAll?: true;
}

/** In a database made for it, columns have these values: for each its name and a number. */
export const sampleOf = (column: string, number = 1): string => `${column}${number}`;
/** The record of that number was made at this instant, Unix milliseconds, and has the least id of it. */
export const instantOf = (number: number): number => Date.UTC(2026, 0, 1) + number;
export const idOf = (number: number): string => smallestId(instantOf(number));

// Filters by updated_at whose value has few records, so that those that are found can be sorted.
const FEW: Record<string, string[]> = {
  companies: ['domain', 'name', 'segment_id'],
  contacts: ['email', 'phone', 'segment_id'],
  deals: ['company_id', 'contact_id'],
  tasks: ['deal_id', 'person_id'],
  notes: ['parent_id', 'record_id'],
  interactions: ['contact_id', 'company_id'],
  meetings: ['deal_id'],
  recordings: ['meeting_id'],
  bookings: ['attendee_email'],
};
// In whatever order, what is found by range has to be sorted.
const RANGE = /_(?:before|after)$/;

const rowOf = ({ storedColumns }: Resource, number: number): RecordRow =>
  ({ ...Object.fromEntries(storedColumns.map((name) => [name, null])), id: idOf(number) }) as RecordRow;

type Asked = Partial<ListQuery> & Pick<ListQuery, 'sortBy'>;

/** Asks for a list, each for another page of it or in the other direction. */
export function pagesOf(resource: Resource, asked: Asked): Question['forms'] {
  const list = { ownerId: null, createdSince: null, updatedSince: null, after: null, limit: 20 };
  const after = { value: instantOf(1_000), id: idOf(1_000) };
  const since = { createdSince: instantOf(500), updatedSince: instantOf(500) };
  // More rows than 21 are another query where the engine answers with all at once.
  return [{}, { after }, since, { ...since, after }, { after, limit: 22 }].flatMap((page) =>
    (['asc', 'desc'] as const).map((direction) => {
      const query = { ...list, filters: {}, ...page, ...asked, direction };
      return (db: RecordTrx, orgNumber: number) => listRecords(db, resource, { ...query, orgNumber });
    }),
  );
}

function valueFor({ type }: Resource['filters'][string], [match]: readonly Match[]) {
  if (type === 'boolean') return 1;
  if (match === undefined) return '';
  if ('keyed' in match) return sampleOf(match.keyed);
  if ('table' in match) return sampleOf(match.value);
  if (match.operator === '=') return sampleOf(match.column);
  return match.operator === '<' ? instantOf(20) : instantOf(1_980);
}

function listsOf(resource: Resource): Question[] {
  const { name, owner } = resource;
  return resource.sorts.flatMap((sortBy) => {
    const ownerId = sampleOf(owner ?? '');
    const title = `a list of ${name} in the order of ${sortBy}`;
    const question = (words: string, asked: Partial<Asked>, may: Partial<Question>): Question => ({
      ...{ title: title + words, isOfAll: false, maySort: false, maySift: false, ...may },
      forms: pagesOf(resource, { ...asked, sortBy }),
    });
    const filtered = Object.entries(resource.filters).flatMap(([filter, declared]) => {
      const filters = { [filter]: valueFor(declared, declared.match) };
      const isFew = sortBy === 'updated_at' && FEW[name]?.includes(filter) === true;
      const maySort = isFew || RANGE.test(filter);
      return [
        question(` by ${filter}`, { filters }, { maySort }),
        ...(owner === null
          ? []
          : [question(` by ${filter}, of a user`, { filters, ownerId }, { maySort: true })]),
      ];
    });
    return [
      question('', {}, { isOfAll: true }),
      ...(owner === null ? [] : [question(', of a user', { ownerId }, {})]),
      ...filtered,
    ];
  });
}

const one = (title: string, ask: Question['forms'][number], maySort = true): Question => ({
  ...{ title, forms: [ask], isOfAll: false, maySort, maySift: false },
});
const several = ['a', 'b'];
/** A look-up by several values, and by one, which has a statement of its own. */
const lookup = (
  title: string,
  ask: (db: RecordTrx, orgNumber: number, values: readonly string[]) => unknown,
): Question => ({
  ...one(title, () => undefined),
  forms: [several, several.slice(1)].map((values) => (db, orgNumber) => ask(db, orgNumber, values)),
});

function lookUpsOf(resource: Resource): Question[] {
  const { name } = resource;
  const unique = Object.keys(resource.unique).map((filter) => {
    return lookup(`whose ${filter} of ${name} is taken`, (db, orgNumber, keys) => {
      const unique = keys.map((key) => ({ filter, key, value: key, path: filter }));
      return findOwners(db, resource, orgNumber, [{ unique }]);
    });
  });
  const external = [
    lookup(`${name} by their external ids`, (db, orgNumber, ids) =>
      findByExternalIds(db, resource, orgNumber, ids),
    ),
    one(`${name} by the start of their external id`, (db, orgNumber) =>
      findByStart(db, resource, orgNumber, `${sampleOf('external_id')}/`),
    ),
  ];
  const pairs = (ids: readonly string[]) => ids.map((id) => ({ source: sampleOf('source'), id }));
  const sources = [
    lookup(`${name} with ids of other systems`, (db, orgNumber, ids) =>
      lookUpExternalIds(db, resource, orgNumber, pairs(ids)),
    ),
    lookup(`the ids that ${name} have in other systems`, (db, orgNumber, ids) =>
      listExternalIds(db, resource, orgNumber, ids),
    ),
    one(`a delete of an id that one of ${name} has in another system`, (db, orgNumber) =>
      deleteExternalId(db, resource, { orgNumber, id: idOf(1) }, sampleOf('source')),
    ),
  ];
  return [
    lookup(`${name} by their ids`, (db, orgNumber, ids) => findRecords(db, resource, orgNumber, ids)),
    lookup(`${name} as ends of links`, (db, orgNumber, ids) => findLinkEnds(db, resource, orgNumber, ids)),
    ...('external_id' in resource.fields ? external : []),
    ...(hasExternalIds(resource) ? sources : []),
    ...unique,
    {
      ...one(`a delete from ${name}`, () => undefined),
      forms: [[1], [1, 2]].map((numbers) => (db, orgNumber) => {
        const rows = numbers.map((number) => rowOf(resource, number));
        return deleteRecords(db, resource, { orgNumber, rows }, 0);
      }),
    },
  ];
}

const LINKS = RESOURCES.flatMap(({ links }) => Object.values(links)).flatMap((link) => {
  const parent = (orgNumber: number) => ({ orgNumber, id: sampleOf(link.parentColumn) });
  const lists = [null, sampleOf('owner_id')].map((ownerId) => {
    const title = `the list of ${link.table} of a ${link.parentColumn}${ownerId === null ? '' : ', of a user'}`;
    const page = { after: null, limit: 20, ownerId };
    const question = one(title, (db, orgNumber) => listLinks(db, link, parent(orgNumber), page), false);
    return { ...question, maySift: ownerId !== null };
  });
  return [
    ...lists,
    one(`how many of ${link.table} each ${link.parentColumn} has`, (db, orgNumber) =>
      countLinks(
        db,
        link,
        { orgNumber, ownerId: null },
        [1, 2].map((n) => sampleOf(link.parentColumn, n)),
      ),
    ),
    one(`one of ${link.table}`, (db, orgNumber) =>
      findLink(db, link, parent(orgNumber), sampleOf(link.childColumn)),
    ),
  ];
});

const tiesOf = ({ parentColumn, childColumn }: SideTable) =>
  [1, 2].map((number) => ({
    ...{ parent_id: sampleOf(parentColumn, number), child_id: sampleOf(childColumn, number) },
  }));

const TIES = RESOURCES.flatMap(({ links, sideTables }): Question[] => [
  ...[...Object.values(links), ...sideTables].map((side) =>
    one(`a delete of some rows of ${side.table}`, (db, orgNumber) =>
      removeTies(db, side, orgNumber, tiesOf(side)),
    ),
  ),
  ...Object.values(links).flatMap((link) =>
    columnsTo(contacts, link.fields).map((column) =>
      one(`some rows of ${link.table} without their ${column}`, (db, orgNumber) =>
        setInTies(db, link, orgNumber, { column, value: null }, tiesOf(link)),
      ),
    ),
  ),
]);

const KINDS = LINK_KINDS.flatMap((kind): Question[] => {
  const { link, association } = kind;
  const parentIds =
    association === null ? [1, 2].map((n) => sampleOf(link.parentColumn, n)) : [idOf(1), idOf(2)];
  const whole = { ownerId: null, parentIds: null, parentTypes: null, after: null, limit: 20 };
  const after = {
    linkedAt: instantOf(1_000),
    parentId: parentIds[0] ?? '',
    childId: sampleOf(link.childColumn),
  };
  const list = (words: string, asked: Partial<KindQuery>, may: Partial<Question>): Question => ({
    ...{ title: `the links of ${kind.name}${words}`, isOfAll: false, maySort: false, maySift: false, ...may },
    forms: [{}, { after }].map(
      (page) => (db, orgNumber) => listLinksOfKind(db, kind, { ...whole, ...asked, ...page, orgNumber }),
    ),
  });
  const keys = parentIds.map((parent_id) => ({ parent_id, child_id: sampleOf(link.childColumn) }));
  const types = { parentTypes: [sampleOf('record_type')] };
  const ownerId = sampleOf(kind.parent.owner ?? '');
  return [
    list('', {}, { isOfAll: true }),
    list(' of some parents', { parentIds }, { maySort: true }),
    list(', of a user', { ownerId }, { maySort: true, mayJoin: true }),
    list(' of some parents, of a user', { ownerId, parentIds }, { maySort: true }),
    ...(link.typedBy === 'parent' ? [list(' of one type', types, { maySort: true, mayJoin: true })] : []),
    one(`some links of ${kind.name}`, (db, orgNumber) => findLinks(db, kind, orgNumber, keys)),
    one(`a delete of some links of ${kind.name}`, (db, orgNumber) => {
      const rows = keys.map((key) => ({ ...key, record_type: 'contact', linked_at: 0 }));
      const end = () => ({ id: idOf(1), record_type: 'contact' });
      return deleteLinks(db, kind, { orgNumber, now: 0, end }, rows);
    }),
  ];
});

const anyChange = { resources: ['contacts'], recordId: null, action: null, request: null };
const someChanges = { from: instantOf(1), to: instantOf(20), direction: 'asc', limit: 20 } as const;

const UNSET = RESOURCES.flatMap((target) =>
  RESOURCES.flatMap((resource) =>
    columnsTo(target, resource.fields).map((column) =>
      lookup(`the ${resource.name} that a restored record was in as ${column}`, (db, orgNumber, ids) =>
        findUnset(db, resource, column, { orgNumber, ids }),
      ),
    ),
  ),
);

const CHANGES: Question[] = [
  one('a page of changes', (db, orgNumber) => listChanges(db, { ...anyChange, ...someChanges, orgNumber })),
  one('the changes of a record', (db, orgNumber) =>
    listChanges(db, { ...anyChange, ...someChanges, recordId: idOf(1), orgNumber, direction: 'desc' }),
  ),
  one('the last delete of a record', (db, orgNumber) =>
    listChanges(db, {
      ...{ ...anyChange, ...someChanges, recordId: idOf(1), action: 'deleted', orgNumber },
      ...{ direction: 'desc', limit: 1 },
    }),
  ),
  // Without an instant in the ID, the whole range is read.
  one('the changes of a record that was not created here', (db, orgNumber) =>
    listChanges(db, { ...anyChange, ...someChanges, recordId: 'unknown', orgNumber, direction: 'desc' }),
  ),
  one('what the log of changes contains', findLogState),
  one('the same, from a place in it', (db, orgNumber) => findPlacedLog(db, orgNumber, 1)),
  one('the change at an instant', (db, orgNumber) =>
    findSequenceAt(db, orgNumber, { first: instantOf(1), last: instantOf(1) }, instantOf(1)),
  ),
  one('the keys that made changes', (db, orgNumber) => findActors(db, orgNumber, new Set([1]))),
];

const FILLS = RESOURCES.flatMap((target) =>
  RESOURCES.flatMap((resource) =>
    columnsTo(target, resource.fields).map((column) =>
      one(`a restored record as ${column} of some ${resource.name}`, (db, orgNumber) => {
        const given = { orgNumber, ids: several, value: idOf(1), now: 0, cause: 1 };
        return fillReferences(db, resource, column, given);
      }),
    ),
  ),
);

const RELATED = RESOURCES.flatMap((resource) =>
  Object.values(includesOf(resource)).flatMap((include): Question[] => {
    const ways = include.ways.filter(({ kind }) => kind !== 'own');
    if (ways.length === 0) return [];
    return [null, sampleOf(include.resource?.owner ?? '')].map((ownerId) => {
      const title = `the ${include.name} of some ${resource.name}${ownerId === null ? '' : ', of a user'}`;
      const ids = ways.map(({ own }) => sampleOf(own));
      const ask: Question['forms'][number] = (db, orgNumber) =>
        listRelatedIds(db, include, { orgNumber, ownerId }, [...ids, idOf(1)]);
      return { ...one(title, ask, false), maySift: ownerId !== null };
    });
  }),
);

const subjectOf = (number: number) => `00000000-0000-0000-0000-00000000000${number}`;
const shownOn = [1, 2].map((number) => ({
  ...{ record: subjectOf(number), subject: { on: 'contacts', id: subjectOf(number) } as const },
  ...({ kind: 'note', at: instantOf(number), sequence: instantOf(number) } as const),
}));

const LOGGED = { first: 1, last: 5_000, instant: instantOf(2_000) };

const TIMELINES: Question[] = [
  one(
    'a page of a timeline',
    (db, orgNumber) => {
      const ranges = shownOn.flatMap(({ subject }) =>
        Array.from({ length: 10 }, (_, kind) => ({ subject: subjectBytes(subject), kind })),
      );
      const after = { at: instantOf(1_000), record: subjectOf(1), sequence: 1, kind: 4, via: '' };
      const updates = {
        ...{ subject: textBytes(subjectOf(1)), log: LOGGED, isWhole: true },
        ...{ createdAt: instantOf(1), updatedAt: instantOf(2_000) },
      };
      return listTimeline(db, orgNumber, { ranges, updates, since: 0, after, limit: 21 });
    },
    false,
  ),
  one('updates by their sequence numbers', (db, orgNumber) => findUpdates(db, orgNumber, [instantOf(1)])),
  one('new entries of timelines', (db, orgNumber) => addEntries(db, orgNumber, shownOn)),
  one('missing entries of timelines', (db, orgNumber) => addMissingEntries(db, orgNumber, shownOn)),
  one('entries of timelines that are removed', (db, orgNumber) => removeEntries(db, orgNumber, shownOn)),
  one('entries of the end of a task', (db, orgNumber) => removeSequence(db, orgNumber, subjectOf(1), 1)),
  one('entries of timelines that are moved', (db, orgNumber) =>
    moveEntries(db, orgNumber, subjectOf(1), { before: instantOf(1), after: instantOf(2) }),
  ),
  one(
    'a record that is gone for good',
    (db, orgNumber) => forgetRecords(db, orgNumber, [subjectOf(1)]),
    false,
  ),
  one('what a deal is linked to', (db, orgNumber) =>
    findDealLinks(db, orgNumber, sampleOf('deal_id'), [{ on: 'contacts', id: sampleOf('contact_id') }]),
  ),
  lookup('what deals refer to', findDealEnds),
  lookup('the contacts of deals', listDealContacts),
  lookup('the names of stages', findStageNames),
  ...TIMELINE_SOURCES.map((source) => ({
    ...one(`the rows of ${source.table} for timelines`, (db, orgNumber) =>
      source.read(db, orgNumber, '', 50),
    ),
    isOfAll: true,
  })),
];

const WEBHOOK_ID = idOf(1);
const webhook = (orgNumber: number) => ({ orgNumber, id: WEBHOOK_ID });
const webhookRow = (orgNumber: number) => ({ org_id: orgNumber, id: WEBHOOK_ID });
const pass = (orgNumber: number) => ({ org_id: orgNumber, webhook_id: WEBHOOK_ID, pass: instantOf(1) });
const delivered = (orgNumber: number) => ({ orgNumber, id: sampleOf('webhook_id') });
const ofOrganization = (title: string, ask: Question['forms'][number]): Question => ({
  ...one(title, ask),
  readsAll: true,
});

const WEBHOOKS: Question[] = [
  one('a webhook', (db, orgNumber) => findWebhook(db, webhook(orgNumber))),
  one('a change of a webhook', (db, orgNumber) =>
    updateWebhook(db, webhook(orgNumber), { description: null }),
  ),
  one('a webhook that is disabled', (db, orgNumber) => disableWebhook(db, webhook(orgNumber), 'gone', 0)),
  one('a delete of a webhook', (db, orgNumber) => deleteWebhook(db, webhook(orgNumber))),
  one('the lease of a webhook', (db, orgNumber) =>
    takeLease(db, webhookRow(orgNumber), { holder: 'a', ms: 1 }),
  ),
  one('a lease that is renewed', (db, orgNumber) =>
    renewLease(db, webhookRow(orgNumber), { holder: 'a', ms: 1 }),
  ),
  one('a lease that is given back', (db, orgNumber) => releaseLease(db, webhookRow(orgNumber), 'a')),
  one('the progress of a webhook', (db, orgNumber) => {
    const row = { place: 1, epoch: '', skipped_at: null, failing_since: null, last_success_at: null };
    const waits = { ...pass(orgNumber), sequence: instantOf(1) };
    const changed = { ...waits, resource: 0, record: 'a', attempt: 1, next_attempt_at: null };
    const waiting = { inserted: [], updated: [changed], deleted: [waits] };
    const passes = [{ ...pass(orgNumber), place: 1, last: 1 }];
    const by = { holder: sampleOf('lease_holder'), host: 'a', now: 0 };
    const progress = { row, passes, waiting, deliveries: [], isCleared: false, disabled: null };
    return saveProgress(db, webhook(orgNumber), by, progress);
  }),
  one('the replays of a webhook', (db, orgNumber) => listPasses(db, webhook(orgNumber))),
  one('a replay that begins', (db, orgNumber) => insertPass(db, webhook(orgNumber), { place: 0, last: 1 })),
  one('a replay that has come further', (db, orgNumber) => movePass(db, pass(orgNumber), 1)),
  one('a replay that ends', (db, orgNumber) => deletePass(db, pass(orgNumber))),
  one('the changes that wait for a webhook', (db, orgNumber) => listWaiting(db, webhook(orgNumber))),
  one('what waits for a webhook, tried at once', (db, orgNumber) =>
    retryWaitingAt(db, webhook(orgNumber), instantOf(20)),
  ),
  one('what waits for a webhook, dropped up to a place', (db, orgNumber) =>
    deleteWaitingBefore(db, webhook(orgNumber), instantOf(20)),
  ),
  {
    ...one('the deliveries of a webhook', () => undefined, false),
    forms: [null, idOf(1_000)].map(
      (before) => (db, orgNumber) => listDeliveries(db, delivered(orgNumber), { before, limit: 20 }),
    ),
  },
  one('what came of a ping', (db, orgNumber) => {
    const ping = { org_id: orgNumber, webhook_id: sampleOf('webhook_id'), id: idOf(1) };
    return finishPing(db, ping, { at: 0, ms: 1, status: 200, outcome: 'delivered' });
  }),
  lookup('the keys that made webhooks', (db, orgNumber, ids) =>
    findKeysByNumber(
      db,
      orgNumber,
      ids.map((_, index) => instantOf(index)),
    ),
  ),
  ofOrganization('the webhooks of an organization', (db, orgNumber) =>
    listWebhooks(db, { orgNumber, userId: null }),
  ),
  ofOrganization('the webhooks of a user', (db, orgNumber) =>
    listWebhooks(db, { orgNumber, userId: sampleOf('user_id') }),
  ),
  ofOrganization('how many webhooks an organization has', countWebhooks),
  ofOrganization('the webhooks that a key made', (db, orgNumber) =>
    listEnabledWebhooksOf(db, { org_id: orgNumber, number: 1 }),
  ),
  ofOrganization('how many changes wait for webhooks', countWaiting),
  ofOrganization('the webhooks that there is something to do for', findWebhookWork),
  ofOrganization('the pings that wait', listPendingPings),
];

const rowKeys: IndexKey[] = [
  { run: 1, list: 'nada', place: { ms: instantOf(1), count: 1 } },
  { run: 2, list: 'tada', place: { ms: instantOf(2), count: 1 } },
];
const runRange = { run: 2, from: runKeyStart(2, 'na'), start: 'na' };

const SEARCH: Question[] = [
  one('rows of the search index', (db, orgNumber) => findParts(db, orgNumber, rowKeys)),
  one('rows of a range of the search index', (db, orgNumber) =>
    db.engine.answersAtOnce
      ? findPartsBefore(db, orgNumber, rowKeys[0] as IndexKey, 16)
      : findPartsWithin(db, orgNumber, [
          { ...(rowKeys[0] as IndexKey), downTo: { ms: instantOf(0), count: 0 } },
        ]),
  ),
  one('rows of a run', (db, orgNumber) => findRowsFrom(db, orgNumber, runRange, 100), false),
  one('a few rows of a run', (db, orgNumber) => findFewRowsFrom(db, orgNumber, [runRange]), false),
  {
    ...one('rows that are removed', (db, orgNumber) => removeFirstRows(db, orgNumber, 2), false),
    isOfAll: true,
  },
  {
    ...one(
      'rows that are merged',
      (db, orgNumber) => removeRowsBefore(db, orgNumber, 1, runKeyStart(1, 'n')),
      false,
    ),
    isOfAll: true,
  },
  ofOrganization('runs of the search index', findRuns),
  ofOrganization('the state of the search index', (db, orgNumber) => findSearchState(db, orgNumber, 10)),
  ofOrganization('all that it does not have', findPendingIds),
  { ...one('when it was written', findPendingTimes, false), isOfAll: true },
  ...SEARCHED_RESOURCES.map((name) => ({
    ...one(
      `${name} at places of the index`,
      (db, orgNumber) =>
        findRecordsAt(db, getResource(name), orgNumber, [
          { ms: instantOf(1), count: 1 },
          { ms: instantOf(2), count: 1 },
        ]),
      false,
    ),
  })),
  one('what a query identifies', (db, orgNumber) =>
    findIdentified(db, orgNumber, {
      ...{ externalIds: [sampleOf('external_id')], email: sampleOf('email'), domain: sampleOf('domain') },
      ...{ foreignId: sampleOf('primary_id'), last: idOf(1_000), limit: 5 },
    }),
  ),
  lookup('the segments of transcripts', findSegmentTexts),
];

const DAY_MS = 86_400_000;

const candidate = (orgNumber: number, primaryId: string | null) => ({
  ...{
    orgNumber,
    createdBy: 'k',
    instant: () => 0,
    type: sampleOf('type'),
    direction: sampleOf('direction'),
  },
  ...{ title: sampleOf('title'), summary: null, interactionDate: instantOf(1), isDated: true },
  ...{ mainContact: sampleOf('main_contact'), secondaryId: null, visibleTo: null, primaryId },
  ...{ contactIds: [], companyIds: [] },
});

export const QUESTIONS: readonly Question[] = [
  ...RESOURCES.flatMap((resource) => [...listsOf(resource), ...lookUpsOf(resource)]),
  ...LINKS,
  ...TIES,
  ...KINDS,
  ...CHANGES,
  ...UNSET,
  ...FILLS,
  ...WEBHOOKS,
  ...RELATED,
  ...TIMELINES,
  ...SEARCH,
  one('whether an interaction is a duplicate', async (db, orgNumber) => {
    for (const primaryId of [sampleOf('primary_id'), null])
      await findDuplicate(db, candidate(orgNumber, primaryId));
  }),
  lookup('the stages of pipelines', listStages),
  lookup('stages by their ids', findStages),
  one(
    'the first stage of a pipeline',
    (db, orgNumber) => findFirstStage(db, { orgNumber, id: 'pipeline_id1' }),
    false,
  ),
  one('the stages that deals are in', (db, orgNumber) => findStagesInUse(db, orgNumber, several)),
  { ...one('the oldest pipeline', findOldestPipeline, false), isOfAll: true },
  lookup('users by their ids', findUsersById),
  one('a user by email', (db, orgNumber) => findUserByEmail(db, orgNumber, 'a@b.example')),
  lookup('contacts by their emails', findContactsByEmail),
  one('a key by its hash', (db) => findKeyByHash(db, 'a')),
  one('the transcript of a recording', (db, orgNumber) => findTranscript(db, { orgNumber, id: idOf(1) })),
  one('the answer to a key', (db, orgNumber) =>
    findStoredResponse(db, { orgNumber, principal: sampleOf('principal'), key: sampleOf('key') }, 0),
  ),
  one('the answers that have expired', (db) =>
    purgeStoredResponses({ read: db, write: (_, job) => job(db) }, instantOf(20) + DAY_MS),
  ),
  lookup('the recordings of meetings', listRecordingsOf),
  lookup('who is involved in interactions', listInvolved),
  lookup('interactions by their primary ids', findOrigins),
];
