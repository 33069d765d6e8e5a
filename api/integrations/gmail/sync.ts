import Joi from 'joi';

import { idOfGmailFilter, readGmailFilter } from '../../../contract/gmailFilters.js';
import type { TagValue } from '../../../contract/records.js';
import { invalid } from '../../http/errors.js';
import { operation } from '../../http/operation.js';
import { integer, orNull } from '../../schemas/fields.js';
import { ingestFields } from '../../schemas/ingest.js';
import {
  type ConnectedFilesBody,
  fileSyncConfig,
  requestId,
  success,
  toConnectedIngest,
} from '../../schemas/integrations.js';
import { tags } from '../../schemas/tags.js';
import { onlySourceOf } from '../dataSourceOf.js';
import { syncSelection } from '../syncSelection.js';

interface Body extends ConnectedFilesBody {
  filters: Record<string, unknown>;
  data_source_id?: number;
  tags: Record<string, TagValue>;
  request_id?: string;
  sync_attachments: boolean;
  incremental_sync: boolean;
}

/** The id of what is meant. @throws HttpError 422 where the filters mean nothing */
function selectionOf(filters: Record<string, unknown>): string {
  const read = readGmailFilter(filters);
  if ('filter' in read) return idOfGmailFilter(read.filter);
  throw invalid(['body', 'filters', ...read.wrong.path], read.wrong.message, 'value_error');
}

/** POST /integrations/gmail/sync: makes files of the messages that meet some conditions. */
export const syncGmail = operation<'user', Body>({
  method: 'post',
  path: '/integrations/gmail/sync',
  auth: 'user',
  summary: 'Syncs messages of a connected Gmail that meet some conditions.',
  createsWork: true,
  body: Joi.object({
    filters: Joi.object().unknown().required(),
    data_source_id: orNull(integer()),
    tags: orNull(tags(), {}),
    ...ingestFields(),
    request_id: requestId(),
    sync_attachments: orNull(Joi.boolean(), false),
    file_sync_config: fileSyncConfig(),
    incremental_sync: Joi.boolean().default(false),
  }),
  answer: success,
  async handle({ caller, body, deps }) {
    const externalIds = [selectionOf(body.filters)];
    const source = await onlySourceOf(caller, body.data_source_id, deps.store, 'GMAIL');
    const asked = toConnectedIngest(body);
    const ingest = body.sync_attachments ? { ...asked, syncAttachments: true } : asked;
    const incremental = body.incremental_sync;
    const selection = { externalIds, tags: body.tags, ingest, incremental, requestId: body.request_id };
    return syncSelection(caller, source._id, selection, deps);
  },
});
