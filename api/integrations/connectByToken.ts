import Joi from 'joi';

import { DEFAULT_EMBEDDING_MODEL } from '../../contract/vectors/embeddingModels.js';
import { supportsOption } from '../../contract/sources/sources.js';
import type { ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import { type Documentation, type DocumentedOperation, operation } from '../http/operation.js';
import { orNull } from '../schemas/fields.js';
import { ingestFields } from '../schemas/ingest.js';
import { credential, dataSourceTags, fileSyncConfig, requestId, syncSourceItems } from '../schemas/integrations.js';
import { syncFilesOnConnection, toConnectionOptions } from '../schemas/consent.js';
import { tags } from '../schemas/tags.js';
import { connectAccount } from './connectAccount.js';
import { type Shape, typed } from '../schemas/inferred.js';
import { named } from '../schemas/reference.js';
import { embeddingModel, MODEL_OF_FILES } from '../schemas/enums.js';
import { success } from '../schemas/answers.js';

const optionFields = (source: ConnectedSourceType) => ({
  tags: connectionTags(),
  ...ingestFields(),
  embedding_model: orNull(embeddingModel(), DEFAULT_EMBEDDING_MODEL).description(MODEL_OF_FILES),
  sync_files_on_connection: syncFilesOnConnection(source),
  request_id: requestId(),
  sync_source_items: syncSourceItems(true),
  file_sync_config: fileSyncConfig(),
  data_source_tags: dataSourceTags(),
});

const credentialFields = (fields: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, description]) => [name, credential().description(description)] as const),
  );

/** Returns the description of the body of a request that connects an account. */
export const connectRequest = (accountKind: string): string =>
  `Credentials of ${accountKind}, and options for its files. Later requests that sync items of the account, such as \`POST /integrations/files/sync\`, use these options as defaults.`;

/** Returns the schema of the tags that a connection adds to its files. */
export const connectionTags = () =>
  orNull(tags(), {}).description(
    'Tags of every file that is synced from the account. A later `POST /integrations/files/sync` with `tags` replaces them for the files that it syncs. Null: no tags.',
  );

/**
 * Creates the operation that connects an account of a knowledge base. Credentials are verified before anything is
 * stored.
 * @param fields names of the credentials, which are strings, with their descriptions
 * @param of the account that the credentials belong to, for the description: `a user of Guru`
 */
export const connectByToken = <Field extends string>({
  type,
  fields,
  credentialsOf,
  requestName,
  of,
  ...documented
}: Documentation & {
  readonly path: string;
  readonly summary: string;
  readonly type: ConnectedSourceType;
  readonly fields: Readonly<Record<Field, string>>;
  readonly of: string;
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
      named(
        requestName,
        Joi.object({ ...credentialFields(fields), ...optionFields(type) }).description(connectRequest(of)),
      ),
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
          syncFiles: body.sync_files_on_connection && supportsOption(type, 'sync_files_on_connection'),
          options: toConnectionOptions(type, body),
        },
        deps,
      );
      return { success: true };
    },
  });
