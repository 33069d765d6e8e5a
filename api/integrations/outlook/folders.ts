import Joi from 'joi';

import { operation } from '../../http/operation.js';
import { integer, nullable, orNull } from '../../schemas/fields.js';
import { callSource } from '../callSource.js';
import { accountOf, onlySourceOf } from '../dataSourceOf.js';
import { named } from '../../schemas/reference.js';

/** GET /integrations/outlook/user_folders: lists the current folders of a connected Outlook. */
export const outlookFolders = operation({
  method: 'get',
  path: '/integrations/outlook/user_folders',
  operationId: 'outlook_folders_integrations_outlook_user_folders_get',
  tag: 'Integrations',
  auth: 'user',
  summary: 'Lists the mail folders of a connected Outlook.',
  description: [],
  query: Joi.object({ data_source_id: orNull(integer()) }),
  answer: named(
    'OutlookFolders',
    Joi.object({
      results: Joi.array()
        .items(
          named(
            'OutlookFolder',
            Joi.object({
              id: Joi.string().required(),
              name: Joi.string().allow('').required(),
              parent_id: nullable(Joi.string()).required(),
              total_messages: integer().required(),
            }),
          ),
        )
        .required(),
    }),
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
