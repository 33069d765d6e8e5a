import Joi from 'joi';

import { DEFAULT_EMBEDDING_MODEL } from '../../contract/embeddingModels.js';
import { type ConnectedSourceType, honours } from '../../contract/sources.js';
import { type Documentation, type DocumentedOperation, operation } from '../http/operation.js';
import { byName, orNull } from '../schemas/fields.js';
import { ingestFields } from '../schemas/ingest.js';
import { credential, fileSyncConfig, requestId } from '../schemas/integrations.js';
import { toConnectionOptions } from '../schemas/consent.js';
import { tags } from '../schemas/tags.js';
import { connectAccount } from './connectAccount.js';
import { type Shape, typed } from '../schemas/inferred.js';
import { named } from '../schemas/reference.js';
import { embeddingModel } from '../schemas/enums.js';
import { success } from '../schemas/answers.js';

const optionFields = () => ({
  tags: orNull(tags(), {}),
  ...ingestFields(),
  embedding_model: orNull(embeddingModel(), DEFAULT_EMBEDDING_MODEL),
  sync_files_on_connection: orNull(Joi.boolean(), true),
  request_id: requestId(),
  sync_source_items: Joi.boolean().default(true),
  file_sync_config: fileSyncConfig(),
  data_source_tags: tags().default({}),
});

/**
 * Creates the operation that connects an account of a knowledge base. Credentials are verified before anything is
 * stored.
 * @param fields the credentials, each a text
 */
export const connectByToken = <Field extends string>({
  type,
  fields,
  credentialsOf,
  requestName,
  ...documented
}: Documentation & {
  readonly path: string;
  readonly summary: string;
  readonly type: ConnectedSourceType;
  readonly fields: readonly Field[];
  /** Name of the request in the reference. */
  readonly requestName: string;
  readonly credentialsOf: (given: Readonly<Record<Field, string>>) => object;
}): DocumentedOperation =>
  operation({
    ...documented,
    method: 'post',
    auth: 'user',
    createsWork: true,
    body: typed<Shape<ReturnType<typeof optionFields>> & Record<Field, string>>(
      named(requestName, Joi.object({ ...byName(fields, credential), ...optionFields() })),
    ),
    answer: success,
    async handle({ caller, body, deps }) {
      await connectAccount(
        caller,
        {
          type,
          credentials: credentialsOf(body),
          dataSourceTags: body.data_source_tags,
          listItems: body.sync_source_items,
          syncFiles: body.sync_files_on_connection && honours(type, 'sync_files_on_connection'),
          options: toConnectionOptions(type, body),
        },
        deps,
      );
      return { success: true };
    },
  });
