import Joi from 'joi';

import { idOfGmailFilter, readGmailFilter } from '../../../contract/gmailFilters.js';
import { operation } from '../../http/operation.js';
import { estimate } from '../../schemas/estimates.js';
import { integer, orNull } from '../../schemas/fields.js';
import { fileSyncConfig, incrementalSync, selectionFields, syncAttachments } from '../../schemas/integrations.js';
import { onlySourceOf } from '../dataSourceOf.js';
import { selectionWishes } from '../keptOptions.js';
import { readFilter } from '../readFilter.js';
import { syncSelection } from '../syncSelection.js';
import { named } from '../../schemas/reference.js';
import { success } from '../../schemas/answers.js';

/** POST /integrations/gmail/sync: creates files from the messages that match a filter. */
export const syncGmail = operation({
  method: 'post',
  path: '/integrations/gmail/sync',
  operationId: 'gmail_sync_integrations_gmail_sync_post',
  tag: 'Integrations',
  auth: 'user',
  summary: 'Syncs messages of a connected Gmail that meet some conditions.',
  description: [],
  createsWork: true,
  body: named(
    'GmailSyncInput',
    Joi.object({
      filters: Joi.object().unknown().required(),
      data_source_id: orNull(integer()),
      ...selectionFields(),
      sync_attachments: syncAttachments(),
      file_sync_config: fileSyncConfig(),
      incremental_sync: incrementalSync(),
    }),
  ),
  answer: success,
  dryAnswer: estimate,
  async handle({ caller, body, given, deps }) {
    const externalIds = [idOfGmailFilter(readFilter(body.filters, readGmailFilter))];
    const source = await onlySourceOf(caller, body.data_source_id, deps.store, 'GMAIL');
    const selection = { externalIds, ...selectionWishes(body, given, source) };
    return syncSelection(caller, source, selection, deps);
  },
});
