import Joi from 'joi';

import type { DataSourceRecord } from '../../contract/files/records.js';
import { CREDENTIAL_FIELDS } from '../../contract/accounts/connectCredentials.js';
import { isConnectedSource } from '../../contract/sources/connectedSources.js';
import { CONNECTION_CLIENTS, CONNECTION_FIELDS, type StoredGrant } from '../../contract/accounts/oauth.js';
import { isOAuthSource, type OAuthSource } from '../../contract/accounts/whiteLabel.js';
import { HttpError } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { presentDataSource } from '../presenters/dataSource.js';
import { syncOptionFields, toConnectionOptions, toConnectionActions } from '../schemas/consent.js';
import { dataSourceRecord } from '../schemas/dataSources.js';
import { nullable } from '../schemas/fields.js';
import { type SuppliedCredentials, suppliedCredentials } from '../schemas/suppliedCredentials.js';
import { AFTER_CONNECTING, connectAccount } from './connectAccount.js';
import { readConnectionFields } from './consent/connectionFields.js';
import { newConnectionPage } from './consent/newConnectionPage.js';
import { SUPPLIED_CREDENTIALS } from './suppliedCredentials.js';
import { named } from '../schemas/reference.js';

/** Converts tokens that the caller supplies to the format in which the tokens of a consent are stored. */
function grantOf(source: OAuthSource, supplied: SuppliedCredentials): StoredGrant {
  const times = { obtainedAt: Date.now(), expiresAt: null };
  const tokens = { accessToken: supplied['access_token'] ?? '', refreshToken: supplied['refresh_token'] || null };
  const clientRow = CONNECTION_CLIENTS[source];
  if (clientRow) {
    const client = { clientId: supplied['client_id'] ?? '', clientSecret: supplied['client_secret'] ?? '' };
    return {
      ...tokens,
      ...times,
      ...client,
      facts: readConnectionFields(clientRow.fields, supplied, ['authentication']),
    };
  }
  const fields = (CONNECTION_FIELDS[source] ?? []).map((row) => ({ ...row, field: row.suppliedAs ?? row.field }));
  const credentialParameters = Object.entries(CREDENTIAL_FIELDS[source] ?? {}).map(
    ([field, parameter]) => [parameter, supplied[field] ?? ''] as const,
  );
  const facts = {
    ...readConnectionFields(fields, supplied, ['authentication']),
    ...Object.fromEntries(credentialParameters),
  };
  // Null: the OAuth client that issued the tokens is unknown. They are renewed with the organization's own client for
  // this source if it has one, else with the client of the deployment.
  return { ...tokens, ...times, facts, clientId: null };
}

/**
 * POST /integrations/connect: connects an account with the caller's credentials. They are verified before anything is
 * stored.
 */
export const connect = operation({
  method: 'post',
  path: '/integrations/connect',
  operationId: 'connect_data_source_integrations_connect_post',
  tag: 'Integrations',
  auth: 'user',
  summary: 'Connect an account with existing credentials',
  description: [
    `Connects an account of any source with tokens or keys that you already have, for example from an OAuth flow of your own. Use \`POST /integrations/oauth_url\` if the user has to consent first.

${AFTER_CONNECTING} \`sync_options\` decide whether the account is listed (event \`DATA_SOURCE_READY\` after a complete listing) and synced completely. Tokens are renewed with your organization's own OAuth client for the source if it has one, else with the client of the deployment, so they must come from that client.`,
    'Tokens of `SERVICENOW` are renewed with the OAuth client in the request instead.',
  ],
  returns: 'Record of the connected account, and the address of a page on which its user selects items.',
  createsWork: true,
  body: named(
    'ConnectDataSourceInput',
    Joi.object({
      authentication: suppliedCredentials().description(
        'Source and credentials of the account. `source` determines which fields are required.',
      ),
      sync_options: named(
        'SyncOptions',
        Joi.object(syncOptionFields()).description(
          'What happens after the connection, and options for the files. Later requests that sync items of the account, such as `POST /integrations/files/sync`, use these options as defaults.',
        ),
      )
        .default()
        .description(
          'What happens after the connection. Absent: the account is listed, and synced if its source supports it.',
        ),
    }).description('Credentials of an account at its source, and what to do with the account.'),
  ),
  answer: named(
    'ConnectDataSourceResponse',
    Joi.object({
      data_source: dataSourceRecord
        .required()
        .description('Record of the account; its `id` is the `data_source_id` of later requests.'),
      sync_url: nullable(Joi.string()).description(
        'URL of a page on which the user selects items. It is valid for the seconds of the server setting `CONNECT_PAGE_LIFE_S`. Null for sources that are connected by a key instead of OAuth.',
      ),
    }).description(
      'Record of the connected account, and the URL of a page on which the user selects items. The URL is null if the source is not connected by OAuth.',
    ),
  ),
  async handle({ caller, body, deps }): Promise<{ data_source: DataSourceRecord; sync_url: string | null }> {
    const { authentication: given, sync_options: syncOptions } = body;
    const { source } = given;
    const credentials = isConnectedSource(source)
      ? isOAuthSource(source)
        ? grantOf(source, given)
        : await SUPPLIED_CREDENTIALS[source]?.(given, deps)
      : undefined;
    if (!isConnectedSource(source) || credentials === undefined)
      throw new HttpError(400, `${source} cannot be connected in this version.`);
    const options = toConnectionOptions(source, syncOptions);
    const actions = toConnectionActions(source, syncOptions);
    const connected = await connectAccount(
      caller,
      {
        ...{ type: source, credentials, options, listItems: actions.listItems },
        dataSourceTags: actions.dataSourceTags,
        syncFiles: actions.syncFiles,
      },
      deps,
    );
    const page = { service: source, dataSourceId: connected._id, options, actions };
    return {
      data_source: presentDataSource(connected, deps),
      sync_url: isOAuthSource(source) ? await newConnectionPage(caller, { ...page, service: source }, deps) : null,
    };
  },
});
