import Joi from 'joi';

import { operation } from '../../http/operation.js';
import { integer, nullable, orNull } from '../../schemas/fields.js';
import { callSource } from '../callSource.js';
import { accountOf, onlySourceOf } from '../dataSourceOf.js';
import { named } from '../../schemas/reference.js';

/** GET /integrations/outlook/user_categories: lists the current categories of a connected Outlook. */
export const outlookCategories = operation({
  method: 'get',
  path: '/integrations/outlook/user_categories',
  operationId: 'outlook_categories_integrations_outlook_user_categories_get',
  tag: 'Integrations',
  auth: 'user',
  summary: 'Lists the mail categories of a connected Outlook.',
  description: [],
  query: Joi.object({ data_source_id: orNull(integer()) }),
  answer: named(
    'OutlookCategories',
    Joi.object({
      results: Joi.array()
        .items(
          named(
            'OutlookCategory',
            Joi.object({
              id: Joi.string().required(),
              name: Joi.string().required(),
              color: nullable(Joi.string()).required(),
            }),
          ),
        )
        .required(),
    }),
  ),
  async handle({ caller, query, deps }) {
    const id = query.data_source_id;
    const account = accountOf(await onlySourceOf(caller, id, deps.store, 'OUTLOOK'), deps);
    const results = await callSource('Outlook', (signal) => account.read('categories', {}, signal));
    return { results };
  },
});
