import Joi from 'joi';

import { operation } from '../../http/operation.js';
import { onlyAccountId } from '../../schemas/integrations.js';
import { callSource, LIVE } from '../callSource.js';
import { accountOf, onlySourceOf } from '../dataSourceOf.js';
import { named } from '../../schemas/reference.js';

/** GET /integrations/gmail/user_labels: lists the current labels of a connected Gmail account. */
export const gmailLabels = operation({
  method: 'get',
  path: '/integrations/gmail/user_labels',
  operationId: 'gmail_labels_integrations_gmail_user_labels_get',
  tag: 'Integrations',
  auth: 'user',
  summary: 'List the labels of a connected Gmail account',
  description: [
    `Returns the labels of the mailbox as they are now: those of Gmail and those that its user created. Use their names in the \`label\` conditions of \`POST /integrations/gmail/sync\`. ${LIVE}`,
  ],
  returns: 'Labels of Gmail and of the user of the mailbox, with the names for a sync.',
  query: Joi.object({ data_source_id: onlyAccountId() }),
  answer: named(
    'GmailLabels',
    Joi.object({
      results: Joi.array()
        .items(
          named(
            'GmailLabel',
            Joi.object({
              id: Joi.string().required().description('Id of the label at Gmail, such as `INBOX` or `Label_7`.'),
              name: Joi.string()
                .required()
                .description(
                  'Name as Gmail shows it, such as `INBOX`. Nested labels contain slashes, such as `Clients/Acme`.',
                ),
              type: Joi.string()
                .valid('system', 'user')
                .required()
                .description('`system`: built into Gmail, such as `INBOX`. `user`: created by the user.'),
            }).description(
              'Label of a connected Gmail account. Filters of `POST /integrations/gmail/sync` use its `name` in the condition `label`.',
            ),
          ),
        )
        .required()
        .description('All labels on one page, in the order that Gmail returns.'),
    }).description('All labels of the connected Gmail account: the built-in ones and those that the user created.'),
  ),
  async handle({ caller, query, deps }) {
    const id = query.data_source_id;
    const source = await onlySourceOf(caller, id, deps.store, 'GMAIL');
    const account = accountOf(source, deps);
    return { results: await callSource('Gmail', (signal) => account.read('labels', {}, signal)) };
  },
});
