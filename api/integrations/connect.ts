import Joi from 'joi';

import type { DataSourceRecord } from '../../contract/records.js';
import { type ConnectedSourceType, isConnectedSource, type SourceType } from '../../contract/sources.js';
import type { StoredGrant } from '../../contract/oauth.js';
import { isOAuthSource } from '../../contract/whiteLabel.js';
import { HttpError } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { presentDataSource } from '../presenters/dataSource.js';
import { type SyncOptionsBody, syncOptionFields, toConnectionOptions, toConnectionWishes } from '../schemas/consent.js';
import { dataSourceRecord } from '../schemas/dataSources.js';
import { nullable } from '../schemas/fields.js';
import { type HandedOver, handedOver } from '../schemas/handedOver.js';
import { azureCredentials } from './azureBlobStorage/connect.js';
import { connectAccount } from './connectAccount.js';
import { factsOf } from './consent/facts.js';
import { newConnectionPage } from './consent/newConnectionPage.js';
import { endpointOf } from './s3/connect.js';
import type { ApiDeps } from '../deps.js';

interface Body {
  authentication: HandedOver;
  sync_options: SyncOptionsBody;
}

/** Names that say whose server it is: those of oauth_url have the service in them. */
const FIELD_OF: Partial<Readonly<Record<SourceType, Readonly<Record<string, string>>>>> = {
  ONEDRIVE: { tenant_name: 'microsoft_tenant' },
  SHAREPOINT: { tenant_name: 'microsoft_tenant', site_name: 'sharepoint_site_name' },
  CONFLUENCE: { subdomain: 'confluence_subdomain' },
  ZENDESK: { subdomain: 'zendesk_subdomain' },
  SALESFORCE: { domain: 'salesforce_domain' },
};

/** Tokens that the caller got elsewhere, as if the person had consented here. */
function grantOf(source: SourceType, given: HandedOver): StoredGrant {
  const named = Object.entries(FIELD_OF[source] ?? {}).map(([mine, theirs]) => [theirs, given[mine]]);
  const facts = isOAuthSource(source) ? factsOf(source, { ...given, ...Object.fromEntries(named) }) : {};
  const times = { obtainedAt: Date.now(), expiresAt: null };
  // Nobody said by which client: ours is tried.
  const tokens = { accessToken: given['access_token'] ?? '', refreshToken: given['refresh_token'] || null };
  return { ...tokens, ...times, facts, clientId: null };
}

/** What the connectors of sources with credentials of their own take. */
const CREDENTIALS: Partial<
  Readonly<Record<ConnectedSourceType, (given: HandedOver, deps: ApiDeps) => object | Promise<object>>>
> = {
  GITBOOK: (given) => ({ organization: given['organization_name'], accessToken: given['access_token'] }),
  GITHUB: (given) => ({ username: given['username'], accessToken: given['access_token'] }),
  S3: async (given, deps) => ({
    accessKey: given['access_key'],
    accessKeySecret: given['access_key_secret'],
    endpointUrl: given['endpoint_url'] ? await endpointOf(given['endpoint_url'], deps) : null,
  }),
  AZURE_BLOB_STORAGE: (given) =>
    azureCredentials(given['account_name'] ?? '', given['account_key'] ?? '', [
      'body',
      'authentication',
      'account_name',
    ]),
};

/** POST /integrations/connect: connects an account with credentials that the caller has. They are tried before anything is accepted. */
export const connect = operation<'user', Body>({
  method: 'post',
  path: '/integrations/connect',
  auth: 'user',
  summary: 'Connects an account with credentials that the caller has.',
  createsWork: true,
  body: Joi.object({ authentication: handedOver(), sync_options: Joi.object(syncOptionFields()).default() }),
  answer: Joi.object({ data_source: dataSourceRecord.required(), sync_url: nullable(Joi.string()) }),
  async handle({ caller, body, deps }): Promise<{ data_source: DataSourceRecord; sync_url: string | null }> {
    const { authentication: given, sync_options: asked } = body;
    const { source } = given;
    const credentials = isConnectedSource(source)
      ? isOAuthSource(source)
        ? grantOf(source, given)
        : await CREDENTIALS[source]?.(given, deps)
      : undefined;
    if (!isConnectedSource(source) || credentials === undefined)
      throw new HttpError(400, `${source} can not be connected in this version.`);
    const options = toConnectionOptions(source, asked);
    const wishes = toConnectionWishes(source, asked);
    const connected = await connectAccount(
      caller,
      {
        ...{ type: source, credentials, options, listItems: wishes.listItems },
        dataSourceTags: wishes.dataSourceTags,
        syncFiles: wishes.syncFiles,
      },
      deps,
    );
    const page = { service: source, dataSourceId: connected._id, options, wishes };
    return {
      data_source: presentDataSource(connected),
      sync_url: isOAuthSource(source) ? await newConnectionPage(caller, { ...page, service: source }, deps) : null,
    };
  },
});
