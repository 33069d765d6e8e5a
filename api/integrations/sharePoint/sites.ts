import Joi from 'joi';

import { operation } from '../../http/operation.js';
import { integer, nullable, orNull } from '../../schemas/fields.js';
import { callSource } from '../callSource.js';
import { accountOf, onlySourceOf } from '../dataSourceOf.js';
import { named } from '../../schemas/reference.js';

const MAX_CURSOR = 8_192;

/**
 * GET /integrations/sharepoint/sites/list: lists a page of the sites that the user of a connected SharePoint can
 * currently access.
 */
export const sharePointSites = operation({
  method: 'get',
  path: '/integrations/sharepoint/sites/list',
  operationId: 'list_sharepoint_sites_integrations_sharepoint_sites_list_get',
  tag: 'Integrations',
  auth: 'user',
  summary: 'Lists the sites of the tenant of a connected SharePoint.',
  description: [],
  query: Joi.object({ data_source_id: orNull(integer()), cursor: orNull(Joi.string().allow('').max(MAX_CURSOR)) }),
  answer: named(
    'SharepointSites',
    Joi.object({
      sites: Joi.array()
        .items(
          named(
            'SharepointSite',
            Joi.object({
              id: Joi.string().required(),
              // As accepted by sharepoint_site_name; null for the root site.
              site_name: nullable(Joi.string()).required(),
              site_display_name: Joi.string().required(),
              site_url: Joi.string().required(),
            }),
          ),
        )
        .required(),
      next_cursor: nullable(Joi.string()).required(),
    }),
  ),
  async handle({ caller, query, deps }) {
    const id = query.data_source_id;
    const account = accountOf(await onlySourceOf(caller, id, deps.store, 'SHAREPOINT'), deps);
    // Front-ends send an empty cursor for the first page.
    const cursor = query.cursor || null;
    return callSource('SharePoint', (signal) => account.read('sites', { cursor }, signal));
  },
});
