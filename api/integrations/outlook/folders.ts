import Joi from 'joi';

import { operation } from '../../http/operation.js';
import { integer, nullable } from '../../schemas/fields.js';
import { onlyAccountId } from '../../schemas/integrations.js';
import { callSource, LIVE } from '../callSource.js';
import { accountOf, onlySourceOf } from '../dataSourceOf.js';
import { named } from '../../schemas/reference.js';

/** GET /integrations/outlook/user_folders: lists the current folders of a connected Outlook account. */
export const outlookFolders = operation({
  method: 'get',
  path: '/integrations/outlook/user_folders',
  operationId: 'outlook_folders_integrations_outlook_user_folders_get',
  tag: 'Integrations',
  auth: 'user',
  summary: 'List the folders of a connected Outlook account',
  description: [
    `Returns the mail folders as they are now, with nested ones, up to 10,000. Use their ids as \`folder\` of \`POST /integrations/outlook/sync\`. Search folders are omitted. ${LIVE}`,
  ],
  returns: 'Mail folders of the mailbox at every depth, with the ids for a sync.',
  query: Joi.object({ data_source_id: onlyAccountId() }),
  answer: named(
    'OutlookFolders',
    Joi.object({
      results: Joi.array()
        .items(
          named(
            'OutlookFolder',
            Joi.object({
              id: Joi.string()
                .required()
                .description('Id of the folder at Outlook, for `folder` of `POST /integrations/outlook/sync`.'),
              name: Joi.string()
                .allow('')
                .required()
                .description(
                  'Name in the language of the mailbox, such as `Inbox`. Folders in different places may have the same name.',
                ),
              parent_id: nullable(Joi.string())
                .required()
                .description('Id of the folder that contains it. `null` for a root folder.'),
              total_messages: integer()
                .required()
                .description('Number of mails in the folder, without those of nested folders.'),
            }).description('Mail folder of a connected Outlook account, with its parent and the number of its mails.'),
          ),
        )
        .required()
        .description(
          'All folders of the mailbox, at every depth, on one page. `parent_id` is the folder that contains each.',
        ),
    }).description(
      'All mail folders of the connected Outlook account, nested ones included. Search folders are omitted.',
    ),
  ),
  async handle({ caller, query, deps }) {
    const id = query.data_source_id;
    const account = accountOf(await onlySourceOf(caller, id, deps.store, 'OUTLOOK'), deps);
    const folders = await callSource('Outlook', (signal) => account.read('folders', {}, signal));
    return {
      results: folders.map((folder) => ({
        id: folder.id,
        name: folder.name,
        parent_id: folder.parent,
        total_messages: folder.messages,
      })),
    };
  },
});
