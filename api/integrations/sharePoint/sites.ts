import Joi from 'joi';

import { operation } from '../../http/operation.js';
import { nullable, orNull } from '../../schemas/fields.js';
import { onlyAccountId } from '../../schemas/integrations.js';
import { callSource, LIVE } from '../callSource.js';
import { accountOf, onlySourceOf } from '../dataSourceOf.js';
import { named } from '../../schemas/reference.js';

const MAX_CURSOR = 8_192;

/**
 * GET /integrations/sharepoint/sites/list: lists a page of the sites that the user of a connected SharePoint account
 * can currently access.
 */
export const sharePointSites = operation({
  method: 'get',
  path: '/integrations/sharepoint/sites/list',
  operationId: 'list_sharepoint_sites_integrations_sharepoint_sites_list_get',
  tag: 'Integrations',
  auth: 'user',
  summary: 'List the sites of a connected SharePoint account',
  description: [
    `Returns a page of the sites of the tenant that the connected user can access now. Use it to find the \`sharepoint_site_name\` of another site, and connect that site with \`POST /integrations/oauth_url\`: a data source has one site. Sites on another host than the tenant's root site are omitted. ${LIVE}`,
  ],
  returns: 'One page of sites that the connected user can access, and the cursor of the next page.',
  query: Joi.object({
    data_source_id: onlyAccountId(),
    cursor: orNull(Joi.string().allow('').max(MAX_CURSOR)).description(
      '`next_cursor` of the previous response. Absent or empty: the first page.',
    ),
  }),
  answer: named(
    'SharepointSites',
    Joi.object({
      sites: Joi.array()
        .items(
          named(
            'SharepointSite',
            Joi.object({
              id: Joi.string()
                .required()
                .description('Id of the site at Microsoft: its host and two GUIDs, separated by commas.'),
              site_name: nullable(Joi.string())
                .required()
                .description('Value of `sharepoint_site_name` that connects this site. `null` for the root site.'),
              site_display_name: Joi.string()
                .required()
                .description('Title that SharePoint shows to users. Several sites may have the same title.'),
              site_url: Joi.string()
                .required()
                .description('Address of the site in the browser. A connection takes `site_name` instead.'),
            }).description('Site of SharePoint that the connected user can access. A data source has one site.'),
          ),
        )
        .required()
        .description(
          'Sites of this page. A page may be short or empty although more follow: continue until `next_cursor` is null.',
        ),
      next_cursor: nullable(Joi.string())
        .required()
        .description('Cursor of the next page: send it as `cursor` in the next request. `null` after the last page.'),
    }).description('A page of sites that the connected user can access, and the cursor of the next one.'),
  ),
  async handle({ caller, query, deps }) {
    const id = query.data_source_id;
    const account = accountOf(await onlySourceOf(caller, id, deps.store, 'SHAREPOINT'), deps);
    // Front-ends send an empty cursor for the first page.
    const cursor = query.cursor || null;
    return callSource('SharePoint', (signal) => account.read('sites', { cursor }, signal));
  },
});
