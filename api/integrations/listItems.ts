import Joi from 'joi';

import type { ItemFilters, ItemListing } from '../../contract/files/items.js';
import { operation } from '../http/operation.js';
import { presentItem } from '../presenters/item.js';
import { integer } from '../schemas/fields.js';
import { itemListing, itemRecord } from '../schemas/integrations.js';
import { toPage } from '../schemas/listing.js';
import { dataSourceOf } from './dataSourceOf.js';
import type { Infer } from '../schemas/inferred.js';
import { named } from '../schemas/reference.js';

/**
 * Returns the filters of the request. A request without any filter gets only the root items: front-ends show an account
 * as folders, and their first request names no folder.
 */
function toFilters({ parent_id: parentId, filters = {} }: Infer<ReturnType<typeof itemListing>>): ItemFilters {
  const candidates = {
    externalIds: filters.external_ids,
    ids: filters.ids,
    name: filters.name,
    rootsOnly: filters.root_files_only,
    fileFormats: filters.file_formats,
    itemTypes: filters.item_types,
    // Front-ends may send an empty parent_id at first.
    parentExternalId: parentId === '' ? undefined : parentId,
  };
  // An empty text or list restricts nothing, like null: a form with cleared filters sends these.
  const isEmpty = (value: unknown): boolean => value === undefined || (value as { length?: number }).length === 0;
  const definedFilters = Object.entries(candidates).filter(([, value]) => !isEmpty(value));
  return definedFilters.length === 0 ? { rootsOnly: true } : Object.fromEntries(definedFilters);
}

/** POST /integrations/items/list: lists the items of a connected account as of its last listing. */
export const listItems = operation({
  method: 'post',
  path: '/integrations/items/list',
  operationId: 'list_data_source_items_integrations_items_list_post',
  tag: 'Integrations',
  auth: 'user',
  summary: 'List items of a connected account',
  description: [
    `Returns files, folders and other items as the last listing of the account found them. Use it to let a user choose what to sync: show the root items first, then with \`parent_id\` the children of a container.

No request is sent to the source. Before the first listing has ended, the list is empty or incomplete; \`POST /integrations/items/sync\` lists the account again, and \`sync_status\` of the data source shows the state. A page has up to \`pagination.limit\` items.`,
  ],
  returns: 'One page of items as the last listing found them, and the number of all that match.',
  body: itemListing(),
  answer: named(
    'ListDataSourceItemsResponse',
    Joi.object({
      items: Joi.array()
        .items(itemRecord)
        .required()
        .description('Items of this page, in the requested order; empty after the last page.'),
      count: integer()
        .required()
        .description('Number of all items that match the filters, on all pages, as the last listing found them.'),
    }).description('One page of the items of an account, and the number of all that match.'),
  ),
  async handle({ caller, body, deps: { store } }) {
    const source = await dataSourceOf(caller, body.data_source_id, store);
    const listing: ItemListing = {
      filters: toFilters(body),
      orderBy: body.order_by,
      orderDir: body.order_dir,
      page: toPage(body.pagination),
    };
    const items: ReturnType<typeof presentItem>[] = [];
    const [count] = await Promise.all([
      store.items.count(source, listing),
      (async () => {
        for await (const part of store.items.list(source, listing)) items.push(...part.map(presentItem));
      })(),
    ]);
    return { items, count };
  },
});
