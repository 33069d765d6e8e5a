import Joi from 'joi';

import { operation } from '../../http/operation.js';
import { integer, orNull } from '../../schemas/fields.js';
import { MAX_ITEM_ID } from '../../schemas/integrations.js';
import { dataSourceOf } from '../dataSourceOf.js';
import { named } from '../../schemas/reference.js';

/** Maximum number of items in the response; /integrations/items/list has pages. */
const MOST = 10_000;

/** POST /integrations/confluence/list: lists spaces, or the direct children of an item, as of the last listing. */
export const listConfluence = operation({
  method: 'post',
  path: '/integrations/confluence/list',
  operationId: 'confluence_list_integrations_confluence_list_post',
  tag: 'Integrations',
  auth: 'user',
  summary: 'Lists the spaces of a connected Confluence, or the contents of one of them.',
  description: [],
  body: named(
    'ListRequest',
    Joi.object({
      data_source_id: integer().required(),
      parent_id: orNull(Joi.string().allow('').max(MAX_ITEM_ID)),
    }),
  ),
  answer: named(
    'ListResponse',
    Joi.object({
      data: Joi.array()
        .items(
          named(
            'DirectoryItem',
            Joi.object({
              id: Joi.string().required(),
              name: Joi.string().allow('').required(),
              has_children: Joi.boolean().required(),
              is_synced: Joi.boolean().required(),
            }),
          ),
        )
        .required(),
    }),
  ),
  async handle({ caller, body, deps: { store } }) {
    const source = await dataSourceOf(caller, body.data_source_id, store, 'CONFLUENCE');
    // Front-ends may send an empty value for the root.
    const filters = body.parent_id ? { parentExternalId: body.parent_id } : { rootsOnly: true };
    const page = { limit: MOST, offset: 0, startingId: 0 };
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
