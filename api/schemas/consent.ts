import Joi from 'joi';

import { FACT_FIELDS, type ConnectionOptions, type ConnectionActions } from '../../contract/oauth.js';
import type { TagValue } from '../../contract/records.js';
import { honours, type SourceType } from '../../contract/sources.js';
import { byName, integer, orNull } from './fields.js';
import { ingestFields } from './ingest.js';
import {
  type ConnectedFilesBody,
  documentFields,
  fileSyncConfig,
  incrementalSync,
  ocrFields,
  requestId,
  toConnectedIngest,
} from './integrations.js';
import { tags } from './tags.js';
import type { Infer, Shape } from './inferred.js';
import { named } from './reference.js';
import { oauthSource } from './enums.js';

/** Sync options of a connection. */
export type SyncOptionsBody = Shape<ReturnType<typeof syncOptionFields>>;

const flag = (fallback: boolean) => orNull(Joi.boolean(), fallback);

/** Any value is accepted. An object tags files, so it must contain valid tags. */
const anyTags = () =>
  Joi.any().custom((value: unknown, helpers) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const { error } = tags().validate(value);
    return error ? helpers.message({ custom: 'An object must be tags: names with texts, numbers or booleans' }) : value;
  });

/** Joi fields of the sync options of a connection. */
export const syncOptionFields = () => ({
  tags: anyTags(),
  ...ingestFields(),
  ...documentFields(),
  request_id: requestId(),
  sync_files_on_connection: flag(true),
  enable_file_picker: Joi.boolean().default(true),
  automatically_open_file_picker: orNull(Joi.boolean()),
  sync_source_items: Joi.boolean().default(true),
  incremental_sync: incrementalSync(),
  file_sync_config: fileSyncConfig(),
  data_source_tags: tags().default({}),
});

const isTags = (value: unknown): value is Record<string, TagValue> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Converts the options stored with the connection; some operations accept only part of them. Options that the source does not support are off. */
export const toConnectionOptions = (
  source: SourceType,
  body: ConnectedFilesBody & Partial<Pick<SyncOptionsBody, 'tags' | 'request_id' | 'incremental_sync'>>,
): ConnectionOptions => ({
  ingest: toConnectedIngest(body),
  tags: isTags(body.tags) ? body.tags : {},
  requestId: body.request_id || null,
  incrementalSync: body.incremental_sync === true && honours(source, 'incremental_sync'),
});

/** Converts the sync options of a request; options that the source does not support are dropped. */
export const toConnectionWishes = (source: SourceType, body: SyncOptionsBody): ConnectionActions => {
  const offersChooser = body.enable_file_picker && honours(source, 'enable_file_picker');
  return {
    listItems: body.sync_source_items,
    syncFiles: body.sync_files_on_connection && honours(source, 'sync_files_on_connection'),
    offersChooser,
    opensChooser:
      offersChooser &&
      body.automatically_open_file_picker === true &&
      honours(source, 'automatically_open_file_picker'),
    dataSourceTags: body.data_source_tags,
  };
};

/** Names of the fields that identify the account or server. */
const FACT_NAMES = [...new Set(Object.values(FACT_FIELDS).flatMap((fields) => fields.map(({ field }) => field)))];
const MAX_FACT = 500;
const MAX_SCOPES = 200;
const MAX_SCOPE = 2_000;

const serverCredential = () => Joi.string().max(MAX_SCOPE).required();

const factFields = () => byName(FACT_NAMES, () => orNull(Joi.string().allow('').max(MAX_FACT)));

/** The body of POST /integrations/oauth_url. */
export const oauthUrlBody = () =>
  named(
    'OAuthURLRequest',
    Joi.object({
      service: oauthSource().required(),
      scope: orNull(Joi.string().allow('').max(MAX_SCOPE)),
      scopes: orNull(Joi.array().items(Joi.string().max(MAX_SCOPE)).max(MAX_SCOPES), []),
      ...syncOptionFields(),
      ...ocrFields(),
      ...factFields(),
      data_source_id: orNull(integer()),
      connecting_new_account: flag(false),
      servicenow_credentials: orNull(
        named(
          'ServiceNowCredentials',
          Joi.object({
            instance_subdomain: serverCredential(),
            client_id: serverCredential(),
            client_secret: serverCredential(),
            redirect_uri: serverCredential(),
          }),
        ),
      ),
    }),
  );
export type OAuthUrlBody = Infer<ReturnType<typeof oauthUrlBody>>;
