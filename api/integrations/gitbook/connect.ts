import Joi from 'joi';

import type { GitBookCredentials } from '../../../connectors/gitbook/index.js';
import { DEFAULT_EMBEDDING_MODEL } from '../../../contract/embeddingModels.js';
import type { TagValue } from '../../../contract/records.js';
import { operation } from '../../http/operation.js';
import { orNull } from '../../schemas/fields.js';
import type { HandedOver } from '../../schemas/handedOver.js';
import { embeddingModel, ingestFields } from '../../schemas/ingest.js';
import { type ConnectedFilesBody, credential, fileSyncConfig, requestId, success } from '../../schemas/integrations.js';
import { toConnectionOptions } from '../../schemas/consent.js';
import { tags } from '../../schemas/tags.js';
import { connectAccount } from '../connectAccount.js';

interface Body extends ConnectedFilesBody {
  organization: string;
  access_token: string;
  tags: Record<string, TagValue>;
  sync_files_on_connection: boolean;
  request_id?: string;
  sync_source_items: boolean;
  data_source_tags: Record<string, TagValue>;
}

/** What the connector takes, of what was handed over at /integrations/connect. */
export const gitBookHandedOver = (given: HandedOver): GitBookCredentials => ({
  organization: given['organization_name'] ?? '',
  accessToken: given['access_token'] ?? '',
});

/** POST /integrations/gitbook: connects an organization of GitBook. Its token is tried before anything is accepted. */
export const connectGitBook = operation<'user', Body>({
  method: 'post',
  path: '/integrations/gitbook',
  auth: 'user',
  summary: 'Connects GitBook with a token.',
  createsWork: true,
  body: Joi.object({
    organization: credential(),
    access_token: credential(),
    tags: orNull(tags(), {}),
    ...ingestFields(),
    embedding_model: orNull(embeddingModel(), DEFAULT_EMBEDDING_MODEL),
    sync_files_on_connection: orNull(Joi.boolean(), true),
    request_id: requestId(),
    sync_source_items: Joi.boolean().default(true),
    file_sync_config: fileSyncConfig(),
    data_source_tags: tags().default({}),
  }),
  answer: success,
  async handle({ caller, body, deps }) {
    const credentials: GitBookCredentials = { organization: body.organization, accessToken: body.access_token };
    await connectAccount(
      caller,
      {
        type: 'GITBOOK',
        credentials,
        dataSourceTags: body.data_source_tags,
        listItems: body.sync_source_items,
        syncFiles: body.sync_files_on_connection,
        options: toConnectionOptions('GITBOOK', body),
      },
      deps,
    );
    return { success: true };
  },
});
