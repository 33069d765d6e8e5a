import Joi from 'joi';

import { DEFAULT_EMBEDDING_MODEL } from '../../../contract/vectors/embeddingModels.js';
import { operation } from '../../http/operation.js';
import { estimate } from '../../schemas/estimates.js';
import { orNull } from '../../schemas/fields.js';
import { accountId, fileSyncConfig, itemIds, selectionFields } from '../../schemas/integrations.js';
import { connectedSourceOf } from '../dataSourceOf.js';
import { selectionOptions } from '../selectionOptions.js';
import { AFTER_SELECTION, SELECTION_ACCEPTED, syncSelection } from '../syncSelection.js';
import { named } from '../../schemas/reference.js';
import { embeddingModel, MODEL_OF_FILES } from '../../schemas/enums.js';
import { success } from '../../schemas/answers.js';

const MAX_SPACES = 20;

/** POST /integrations/gitbook/sync: creates files from all pages of some spaces. */
export const syncGitBook = operation({
  method: 'post',
  path: '/integrations/gitbook/sync',
  operationId: 'gitbook_sync_integrations_gitbook_sync_post',
  tag: 'Integrations',
  auth: 'user',
  summary: 'Sync spaces of a connected GitBook account',
  description: [
    `Creates files from all pages of up to ${MAX_SPACES} spaces, as Markdown, or syncs them again. No files are created for links and computed pages.

${AFTER_SELECTION}`,
  ],
  returns: SELECTION_ACCEPTED,
  createsWork: true,
  body: named(
    'GitbookSyncRequest',
    Joi.object({
      space_ids: itemIds()
        .max(MAX_SPACES)
        .required()
        .description(`Ids of spaces, up to ${MAX_SPACES}, as \`GET /integrations/gitbook/spaces\` returns them.`),
      data_source_id: accountId(),
      ...selectionFields(),
      embedding_model: orNull(embeddingModel(), DEFAULT_EMBEDDING_MODEL).description(MODEL_OF_FILES),
      file_sync_config: fileSyncConfig(),
    }).description(
      'Spaces of a GitBook account, and options for their files. After the response, a run queues a file for each page of these spaces.',
    ),
  ),
  answer: success,
  dryAnswer: estimate,
  async handle({ caller, body, given, deps }) {
    const source = await connectedSourceOf(caller, body.data_source_id, deps.store, 'GITBOOK');
    const selection = { externalIds: body.space_ids, ...selectionOptions(body, given, source) };
    return syncSelection(caller, source, selection, deps);
  },
});
