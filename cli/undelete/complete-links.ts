// Records that were deleted together can name each other in links: what a link lost, because one came back before the other, is set.
import type { Data } from '../../db/model/json.ts';
import { LINK_KINDS } from '../../db/model/resources/link-kinds.ts';
import type { Client } from '../api/client.ts';
import { listAt, pagesOf } from '../api/pages.ts';
import { postBatch } from '../import/session/post-batch.ts';
import { changesAt, type DeletedRecord } from './deletes.ts';

const ITEMS_MAX = 100;

/** Sets the own fields of restored links that name other restored records. */
export async function completeLinks(
  client: Client,
  requestId: string,
  restored: readonly DeletedRecord[],
): Promise<void> {
  const [first] = restored;
  const ids = new Set(restored.map(({ id }) => id));
  const kinds = LINK_KINDS.flatMap(({ name, parent, link }) => {
    const fields = Object.keys(link.fields).filter((one) => link.fields[one]?.references === first?.resource);
    return fields.length === 0 ? [] : [{ name, parent: parent.name, fields }];
  });
  if (first === undefined || ids.size < 2) return;
  for (const { name, parent, fields } of kinds) {
    const query = { request_id: requestId, action: 'unlinked', resource: parent, start: first.at };
    const items: Data[] = [];
    for await (const { records } of pagesOf(client, changesAt(query))) {
      for (const { record_id: parent_id, link } of records) {
        const { id, ...own } = (link ?? {}) as Data;
        const named = fields.filter((field) => ids.has(String(own[field])));
        if (`${parent}.${(link as Data | null)?.name}` !== name || named.length === 0) continue;
        const values = Object.fromEntries(named.map((field) => [field, own[field] ?? null]));
        items.push({ of: name, parent_id: parent_id ?? null, id: id ?? null, ...values });
      }
    }
    const lacking = await lackingIn(client, name, items);
    for (let at = 0; at < lacking.length; at += ITEMS_MAX)
      await postBatch({ client, path: '/api/v2/links/batch', items: lacking.slice(at, at + ITEMS_MAX) });
  }
}

// Those whose link exists and lacks the value.
async function lackingIn(client: Client, of: string, items: readonly Data[]): Promise<Data[]> {
  const lacking: Data[] = [];
  for (const [parent, ofParent] of Map.groupBy(items, ({ parent_id }) => String(parent_id))) {
    const links = new Map<string, Data>();
    for await (const { records } of pagesOf(client, listAt('/api/v2/links', { of, parent_id: parent })))
      for (const link of records) links.set(String(link.id), link);
    for (const item of ofParent) {
      const link = links.get(String(item.id));
      const isLacking = link !== undefined && Object.keys(item).some((name) => link[name] === null);
      if (isLacking) lacking.push(item);
    }
  }
  return lacking;
}
