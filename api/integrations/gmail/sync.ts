import Joi from 'joi';

import { idOfGmailFilter, readGmailFilter } from '../../../contract/sources/gmailFilters.js';
import { operation } from '../../http/operation.js';
import { estimate } from '../../schemas/estimates.js';
import {
  fileSyncConfig,
  incrementalSync,
  onlyAccountId,
  selectionFields,
  syncAttachments,
} from '../../schemas/integrations.js';
import { onlySourceOf } from '../dataSourceOf.js';
import { selectionOptions } from '../selectionOptions.js';
import { readFilter } from '../readFilter.js';
import { AFTER_SELECTION, SELECTION_ACCEPTED, syncSelection } from '../syncSelection.js';
import { named } from '../../schemas/reference.js';
import { success } from '../../schemas/answers.js';

/** POST /integrations/gmail/sync: creates files from the messages that match a filter. */
export const syncGmail = operation({
  method: 'post',
  path: '/integrations/gmail/sync',
  operationId: 'gmail_sync_integrations_gmail_sync_post',
  tag: 'Integrations',
  auth: 'user',
  summary: 'Sync messages of a connected Gmail account',
  description: [
    `Creates a file from each message that meets the conditions in \`filters\`, or syncs it again. \`filters: {}\` selects all messages. Spam and the trash are never synced.

${AFTER_SELECTION}`,
  ],
  returns: SELECTION_ACCEPTED,
  createsWork: true,
  body: named(
    'GmailSyncInput',
    Joi.object({
      filters: Joi.object()
        .unknown()
        .required()
        .description(
          'A condition `{"key", "value", "negate"}`, or `{"AND": […]}` or `{"OR": […]}`, nested 5 deep with up to 50 conditions; `{}` selects all. Keys: `label`, `after` and `before` (`YYYY/mm/dd` in UTC), `is` (`starred`, `important`, `snoozed`, `unread`, `read`), `from`, `to`, `in` (`sent`, `inbox`, `drafts`, `archive`), `has` (`attachment`).',
        ),
      data_source_id: onlyAccountId(),
      ...selectionFields(),
      sync_attachments: syncAttachments(),
      file_sync_config: fileSyncConfig(),
      incremental_sync: incrementalSync(),
    }).description(
      'Conditions that select messages of a Gmail account, and options for their files. After the response, a run queues a file for each message that meets the conditions.',
    ),
  ),
  answer: success,
  dryAnswer: estimate,
  async handle({ caller, body, given, deps }) {
    const externalIds = [idOfGmailFilter(readFilter(body.filters, readGmailFilter))];
    const source = await onlySourceOf(caller, body.data_source_id, deps.store, 'GMAIL');
    const selection = { externalIds, ...selectionOptions(body, given, source) };
    return syncSelection(caller, source, selection, deps);
  },
});
