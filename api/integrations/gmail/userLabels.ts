import Joi from 'joi';

import { operation } from '../../http/operation.js';
import { integer, orNull } from '../../schemas/fields.js';
import { callSource } from '../callSource.js';
import { accountOf, onlySourceOf } from '../dataSourceOf.js';
import { named } from '../../schemas/reference.js';

/** GET /integrations/gmail/user_labels: lists the current labels of a connected Gmail. */
export const gmailLabels = operation({
  method: 'get',
  path: '/integrations/gmail/user_labels',
  operationId: 'gmail_labels_integrations_gmail_user_labels_get',
  tag: 'Integrations',
  auth: 'user',
  summary: 'Lists the labels of a connected Gmail: its own, and those of its user.',
  description: [],
  query: Joi.object({ data_source_id: orNull(integer()) }),
  answer: named(
    'GmailLabels',
    Joi.object({
      results: Joi.array()
        .items(
          named(
            'GmailLabel',
            Joi.object({
              id: Joi.string().required(),
              name: Joi.string().required(),
              type: Joi.string().valid('system', 'user').required(),
            }),
          ),
        )
        .required(),
    }),
  ),
  async handle({ caller, query, deps }) {
    const id = query.data_source_id;
    const source = await onlySourceOf(caller, id, deps.store, 'GMAIL');
    const account = accountOf(source, deps);
    return { results: await callSource('Gmail', (signal) => account.read('labels', {}, signal)) };
  },
});
