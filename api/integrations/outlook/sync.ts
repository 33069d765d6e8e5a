import Joi from 'joi';

import type { MailFolder } from '../../../contract/sources/liveReads.js';
import { idOfOutlookQuery, readOutlookFilter } from '../../../contract/sources/outlookQuery.js';
import { HttpError, invalid } from '../../http/errors.js';
import { operation } from '../../http/operation.js';
import { estimate } from '../../schemas/estimates.js';
import { orNull } from '../../schemas/fields.js';
import {
  fileSyncConfig,
  incrementalSync,
  onlyAccountId,
  selectionFields,
  syncAttachments,
} from '../../schemas/integrations.js';
import { callSource } from '../callSource.js';
import { accountOf, onlySourceOf } from '../dataSourceOf.js';
import { selectionOptions } from '../selectionOptions.js';
import { readFilter } from '../readFilter.js';
import { AFTER_SELECTION, SELECTION_ACCEPTED, syncSelection } from '../syncSelection.js';
import { named } from '../../schemas/reference.js';
import { success } from '../../schemas/answers.js';

const INBOX = 'Inbox';
const MAX_FOLDER = 1_024;

/** Returns the only folder of a list. @throws HttpError 400 if the list is empty or has several */
function onlyFolder([folder, second]: readonly MailFolder[]): MailFolder {
  if (!folder)
    throw new HttpError(400, 'There is no such folder. Name it as GET /integrations/outlook/user_folders returns it.');
  if (second) throw new HttpError(400, 'Several folders have this name. Give the id of one as folder.');
  return folder;
}

/** POST /integrations/outlook/sync: creates files from the mails of a folder that match a filter. */
export const syncOutlook = operation({
  method: 'post',
  path: '/integrations/outlook/sync',
  operationId: 'outlook_sync_integrations_outlook_sync_post',
  tag: 'Integrations',
  auth: 'user',
  summary: 'Sync mails of a folder of a connected Outlook account',
  description: [
    `Creates a file from each mail in one folder that meets the conditions in \`filters\`, or syncs it again. \`filters: {}\` selects all mails of the folder. Nested folders are not included. An unknown or ambiguous folder returns 400.

${AFTER_SELECTION}`,
  ],
  returns: SELECTION_ACCEPTED,
  createsWork: true,
  body: named(
    'OutlookSyncInput',
    Joi.object({
      data_source_id: onlyAccountId(),
      ...selectionFields(),
      folder: orNull(Joi.string().allow('').max(MAX_FOLDER), INBOX).description(
        'Id, name or path (`Projects/2024`) of the folder. `Inbox`, `Drafts`, `Sent Items`, `Archive`, `Junk Email` and `Outbox` work for mailboxes in every language. Absent, null or empty: the inbox.',
      ),
      filters: Joi.object()
        .unknown()
        .required()
        .description(
          'A condition `{"key", "value"}`, or `{"AND": […]}` or `{"OR": […]}`, nested 5 deep with up to 50 conditions; `{}` selects all. Keys: `category`, `after` and `before` (`YYYY/mm/dd` in UTC; `after` includes the day), `is` (`flagged`, `read`, `unread`), `from` (an address).',
        ),
      sync_attachments: syncAttachments(),
      incremental_sync: incrementalSync(),
      file_sync_config: fileSyncConfig(),
    }).description(
      'A folder of an Outlook account, conditions that select mails in it, and options for their files. After the response, a run queues a file for each mail that meets the conditions.',
    ),
  ),
  answer: success,
  dryAnswer: estimate,
  async handle({ caller, body, given, deps }) {
    const filter = readFilter(body.filters, readOutlookFilter);
    const source = await onlySourceOf(caller, body.data_source_id, deps.store, 'OUTLOOK');
    const account = accountOf(source, deps);
    const folderName = body.folder.trim() || INBOX;
    const folders = await callSource('Outlook', (signal) => account.read('folders', { reference: folderName }, signal));
    const { id: folder } = onlyFolder(folders);
    const options = selectionOptions(body, given, source);
    const attachments = options.ingest.syncAttachments === true;
    const externalId = idOfOutlookQuery({ folder, filter, attachments });
    if (externalId === null) throw invalid(['body', 'filters'], 'The filter is too long', 'value_error');
    const selection = { externalIds: [externalId], ...options };
    return syncSelection(caller, source, selection, deps);
  },
});
