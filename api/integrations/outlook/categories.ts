import Joi from 'joi';

import { operation } from '../../http/operation.js';
import { nullable } from '../../schemas/fields.js';
import { onlyAccountId } from '../../schemas/integrations.js';
import { callSource, LIVE } from '../callSource.js';
import { accountOf, onlySourceOf } from '../dataSourceOf.js';
import { named } from '../../schemas/reference.js';

/** GET /integrations/outlook/user_categories: lists the current categories of a connected Outlook account. */
export const outlookCategories = operation({
  method: 'get',
  path: '/integrations/outlook/user_categories',
  operationId: 'outlook_categories_integrations_outlook_user_categories_get',
  tag: 'Integrations',
  auth: 'user',
  summary: 'List the categories of a connected Outlook account',
  description: [
    `Returns the categories that the user of the mailbox has defined, as they are now. Use their names in the \`category\` conditions of \`POST /integrations/outlook/sync\`. ${LIVE}`,
  ],
  returns: 'Categories that the user of the mailbox has defined, with the names for a sync.',
  query: Joi.object({ data_source_id: onlyAccountId() }),
  answer: named(
    'OutlookCategories',
    Joi.object({
      results: Joi.array()
        .items(
          named(
            'OutlookCategory',
            Joi.object({
              id: Joi.string()
                .required()
                .description('Id of the category at Outlook, or its name if Outlook returns no id.'),
              name: Joi.string()
                .required()
                .description(
                  'Name as the user sees it, such as `Red category`. Mails refer to the category by this name.',
                ),
              color: nullable(Joi.string())
                .required()
                .description("Outlook's name of a color, such as `preset3`. `null` if there is none."),
            }).description(
              'Category that the user of a connected Outlook account has defined for mails. Filters of `POST /integrations/outlook/sync` use its `name` in the condition `category`.',
            ),
          ),
        )
        .required()
        .description('All categories on one page, in the order that Outlook returns.'),
    }).description('All categories that the user of the connected Outlook account has defined.'),
  ),
  async handle({ caller, query, deps }) {
    const id = query.data_source_id;
    const account = accountOf(await onlySourceOf(caller, id, deps.store, 'OUTLOOK'), deps);
    const results = await callSource('Outlook', (signal) => account.read('categories', {}, signal));
    return { results };
  },
});
