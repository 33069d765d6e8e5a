import Joi from 'joi';

import { CONNECTION_FIELDS, type ConnectionOptions, type ConnectionActions } from '../../contract/accounts/oauth.js';
import type { TagValue } from '../../contract/files/records.js';
import { OPTION_SOURCES, supportsOption, type SourceType } from '../../contract/sources/sources.js';
import { integer, orNull } from './fields.js';
import { ingestFields } from './ingest.js';
import {
  type ConnectedFilesBody,
  dataSourceTags,
  documentFields,
  fileSyncConfig,
  incrementalSync,
  requestId,
  syncSourceItems,
  toConnectedIngest,
} from './integrations.js';
import { ocrFields } from './ocr.js';
import { tags } from './tags.js';
import type { Infer, Shape } from './inferred.js';
import { named } from './reference.js';
import { oauthSource } from './enums.js';

/** Sync options of a connection. */
export type SyncOptionsBody = Shape<ReturnType<typeof syncOptionFields>>;

/** Returns the sources that support an option, for descriptions. */
const sourcesWith = (option: keyof typeof OPTION_SOURCES): string =>
  OPTION_SOURCES[option].map((source) => `\`${source}\``).join(', ');

/**
 * Returns the schema of the option that syncs the whole account immediately after its connection.
 * @param source the source of the operation, if it has only one
 */
export const syncFilesOnConnection = (source?: SourceType) =>
  orNull(Joi.boolean(), true).description(
    source === undefined
      ? `Whether the whole account is synced once it is connected. Only ${sourcesWith('sync_files_on_connection')}; other sources ignore it. Null: \`true\`.`
      : supportsOption(source, 'sync_files_on_connection')
        ? '`true`: all items of the account are synced once it is connected. `false`: no item is synced until a request names it, such as `POST /integrations/files/sync`. Null: `true`.'
        : 'Accepted for compatibility and without effect: files of this source are created only by `POST /integrations/files/sync`.',
  );

/** Returns a schema for tags: an object must contain valid tags, any other value is accepted without effect. */
const anyTags = () =>
  Joi.any()
    .custom((value: unknown, helpers) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
      const { error } = tags().validate(value);
      return error
        ? helpers.message({ custom: 'An object must be valid tags: names with texts, numbers, booleans or lists' })
        : value;
    })
    .description(
      'Tags of every file that is synced from the account: an object of names with texts, numbers, booleans or lists. Any other value is accepted and has no effect.',
    );

/** Returns the Joi fields of the sync options of a connection. */
export const syncOptionFields = () => ({
  tags: anyTags(),
  ...ingestFields(),
  ...documentFields(),
  request_id: requestId(),
  sync_files_on_connection: syncFilesOnConnection(),
  enable_file_picker: Joi.boolean()
    .default(true)
    .description(
      `Whether the page after the consent offers a file chooser. Only ${sourcesWith('enable_file_picker')}.`,
    ),
  automatically_open_file_picker: orNull(Joi.boolean()).description(
    `Whether the chooser opens directly after the consent; it needs \`enable_file_picker\`. Null: \`false\`. Only ${sourcesWith('automatically_open_file_picker')}.`,
  ),
  sync_source_items: syncSourceItems(true),
  incremental_sync: incrementalSync(),
  file_sync_config: fileSyncConfig(),
  data_source_tags: dataSourceTags(),
});

const isTags = (value: unknown): value is Record<string, TagValue> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Converts the options of a request that are stored with the connection; some operations accept only part of them.
 * `incremental_sync` is off if the source does not support it.
 */
export const toConnectionOptions = (
  source: SourceType,
  body: ConnectedFilesBody & Partial<Pick<SyncOptionsBody, 'tags' | 'request_id' | 'incremental_sync'>>,
): ConnectionOptions => ({
  ingest: toConnectedIngest(body),
  tags: isTags(body.tags) ? body.tags : {},
  requestId: body.request_id || null,
  incrementalSync: body.incremental_sync === true && supportsOption(source, 'incremental_sync'),
});

/** Converts the sync options of a request; options that the source does not support are dropped. */
export const toConnectionActions = (source: SourceType, body: SyncOptionsBody): ConnectionActions => {
  const offersChooser = body.enable_file_picker && supportsOption(source, 'enable_file_picker');
  return {
    listItems: body.sync_source_items,
    syncFiles: body.sync_files_on_connection && supportsOption(source, 'sync_files_on_connection'),
    offersChooser,
    opensChooser:
      offersChooser &&
      body.automatically_open_file_picker === true &&
      supportsOption(source, 'automatically_open_file_picker'),
    dataSourceTags: body.data_source_tags,
  };
};

/** Names of the fields that identify the account or server. */
const PARAMETER_NAMES = [
  ...new Set(Object.values(CONNECTION_FIELDS).flatMap((fields) => fields.map(({ field }) => field))),
];
const MAX_PARAMETER = 500;
const MAX_SCOPES = 200;
const MAX_SCOPE = 2_000;

/** Descriptions of the fields of CONNECTION_FIELDS; test/system/reference/reference.test.ts reports a missing one. */
const PARAMETER_TEXTS: Readonly<Record<string, string>> = {
  microsoft_tenant:
    'For OneDrive, Outlook and SharePoint: id or domain of the Microsoft tenant whose users may consent. Default, also for null: `common`, users of any tenant.',
  sharepoint_site_name:
    'For SharePoint: name or path of the site as in its address, such as `teams/Crew`. Default, also for null: ' +
    'the root site. `GET /integrations/sharepoint/sites/list` returns the possible values.',
  zendesk_subdomain:
    'Required for Zendesk (400 if absent, null or empty), ignored otherwise: `example` for an account at `example.zendesk.com`.',
  confluence_subdomain:
    'For Confluence: `example` for a site at `example.atlassian.net`. It is needed if the account has several sites; otherwise it may be absent or null.',
  salesforce_domain:
    'For Salesforce: host at which the user signs in, such as `example.my.salesforce.com`. Default, also for null: `login.salesforce.com`.',
  gong_account_email:
    'For Gong: e-mail address of the account. It identifies the data source. Other services ignore it; null counts as absent.',
};

const serverCredential = (description: string) => Joi.string().max(MAX_SCOPE).required().description(description);

const parameterField = (name: string) => {
  const schema = orNull(Joi.string().allow('').max(MAX_PARAMETER));
  const about = PARAMETER_TEXTS[name];
  return about === undefined ? schema : schema.description(about);
};
const parameterFields = () => Object.fromEntries(PARAMETER_NAMES.map((name) => [name, parameterField(name)] as const));

/** Returns the schema of the body of POST /integrations/oauth_url. */
export const oauthUrlBody = () =>
  named(
    'OAuthURLRequest',
    Joi.object({
      service: oauthSource()
        .required()
        .description('Service whose account is connected. Its OAuth client must be configured, else 400.'),
      scope: orNull(Joi.string().allow('').max(MAX_SCOPE)).description(
        'Scopes to request, separated by spaces. `scopes` takes precedence. If both are absent, null or empty, the built-in scopes of the service are requested.',
      ),
      scopes: orNull(Joi.array().items(Joi.string().max(MAX_SCOPE)).max(MAX_SCOPES), []).description(
        'Scopes to request instead of the built-in ones, one per entry, up to 200. They are not merged with the built-in ones. Null or empty: `scope`.',
      ),
      ...syncOptionFields(),
      ...ocrFields(),
      ...parameterFields(),
      data_source_id: orNull(integer()).description(
        'Id of a data source of `service`, else 404. If its account is connected, the address leads to a page on which the user selects or syncs its items. If its access was revoked, the address leads to the consent that connects it again. Absent or null: the only data source with access or, if none has access, the only one. Without any, or with several that have no access, the user chooses the account during the consent. 400 if several have access. Ignored if `connecting_new_account` is `true`.',
      ),
      connecting_new_account: orNull(Joi.boolean(), false).description(
        '`true`: always return an address for a new consent. `false`: for an account that is connected already, return the address of a page on which the user selects or syncs its items. Null: `false`.',
      ),
      servicenow_credentials: orNull(
        named(
          'ServiceNowCredentials',
          Joi.object({
            instance_subdomain: serverCredential(
              'First part of the host of the instance: `example` for `example.service-now.com`.',
            ),
            client_id: serverCredential('Id of the OAuth client that was registered in the ServiceNow instance.'),
            client_secret: serverCredential(
              'Secret of the OAuth client in `client_id`. It is stored encrypted with the connection.',
            ),
            redirect_uri: serverCredential(
              'Redirect address registered with the client: `/integrations/servicenow` on `PUBLIC_URL` or one of `PUBLIC_URL_ALIASES`.',
            ),
          }).description(
            'OAuth client of a ServiceNow instance. It is required for `SERVICENOW`, with all of its fields. ' +
              'Other services ignore it.',
          ),
        ),
      ).description(
        'Required for `SERVICENOW`, with all of its fields. Other services ignore it, so it may be absent or null.',
      ),
    }).description(
      'The service to connect, its account or server, and the options for its files. The options are stored with the connection: later requests that sync items, such as `POST /integrations/files/sync`, use them as defaults.',
    ),
  );
export type OAuthUrlBody = Infer<ReturnType<typeof oauthUrlBody>>;
