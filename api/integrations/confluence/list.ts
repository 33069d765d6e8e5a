import Joi from 'joi';

import { operation } from '../../http/operation.js';
import { orNull } from '../../schemas/fields.js';
import { accountId, MAX_ITEM_ID } from '../../schemas/integrations.js';
import { dataSourceOf } from '../dataSourceOf.js';
import { named } from '../../schemas/reference.js';

/** Maximum number of items in the response; /integrations/items/list has pages. */
const MAX_ITEMS = 10_000;

/** POST /integrations/confluence/list: lists spaces, or the direct children of an item, as of the last listing. */
export const listConfluence = operation({
  method: 'post',
  path: '/integrations/confluence/list',
  operationId: 'confluence_list_integrations_confluence_list_post',
  tag: 'Integrations',
  auth: 'user',
  summary: 'List spaces or pages of a connected Confluence account',
  description: [
    `Returns the spaces, or the direct children of a space, folder or page, as the last listing of the account found them. Use it to let a user choose what to sync; \`POST /integrations/items/list\` does the same for every source, with pages and filters.

No request is sent to the source: \`POST /integrations/items/sync\` lists it again. The response has up to ${MAX_ITEMS} items, sorted by name.`,
  ],
  returns: 'Spaces of the account, or the children of `parent_id`, sorted by name.',
  body: named(
    'ListRequest',
    Joi.object({
      data_source_id: accountId(),
      parent_id: orNull(Joi.string().allow('').max(MAX_ITEM_ID)).description(
        'Id of the item whose children are listed. Absent, null or empty: the spaces.',
      ),
    }).description('The account, and the space or page whose children are listed.'),
  ),
  answer: named(
    'ListResponse',
    Joi.object({
      data: Joi.array()
        .items(
          named(
            'DirectoryItem',
            Joi.object({
              id: Joi.string()
                .required()
                .description(
                  'Id of the item in Confluence, for `ids` of `POST /integrations/confluence/sync` and for `parent_id`.',
                ),
              name: Joi.string()
                .allow('')
                .required()
                .description('Title of the space, folder or page at the last listing. The response is sorted by it.'),
              has_children: Joi.boolean()
                .required()
                .description('Whether the last listing found items in it. To list them, send its `id` as `parent_id`.'),
              is_synced: Joi.boolean()
                .required()
                .description('Whether a file was created from the item, in any state. `POST /user_files_v2` lists it.'),
            }).description('Space, folder or page of a connected Confluence account, as its last listing found it.'),
          ),
        )
        .required()
        .description(
          'Spaces, or direct children of `parent_id`, sorted by name: up to 10,000. Empty for an item without children.',
        ),
    }).description('Spaces of a connected Confluence account, or the pages below one of its items.'),
  ),
  async handle({ caller, body, deps: { store } }) {
    const source = await dataSourceOf(caller, body.data_source_id, store, 'CONFLUENCE');
    // Front ends may send an empty id for the root.
    const filters = body.parent_id ? { parentExternalId: body.parent_id } : { rootsOnly: true };
    const page = { limit: MAX_ITEMS, offset: 0, startingId: 0 };
    const data: { id: string; name: string; has_children: boolean; is_synced: boolean }[] = [];
    for await (const part of store.items.list(source, { filters, orderBy: 'name', orderDir: 'asc', page })) {
      const parents = await store.items.parents(
        source,
        part.map(({ item }) => item.externalId),
      );
      for (const { item, fileId } of part)
        data.push({
          id: item.externalId,
          name: item.name,
          has_children: parents.has(item.externalId),
          is_synced: fileId !== null,
        });
    }
    return { data };
  },
});
