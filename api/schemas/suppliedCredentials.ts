import Joi from 'joi';

import { CONNECT_CREDENTIALS } from '../../contract/accounts/connectCredentials.js';
import type { SourceType } from '../../contract/sources/sources.js';
import { orNull } from './fields.js';
import { credential } from './integrations.js';
import { typed } from './inferred.js';
import { hidden, named } from './reference.js';

/** Credentials with which a caller connects an account. */
export type SuppliedCredentials = { readonly source: SourceType } & Readonly<Record<string, string | undefined>>;

const optional = () => orNull(Joi.string().allow('').max(4_096));
const NAMES = Object.keys(CONNECT_CREDENTIALS) as SourceType[];

/** Names of the credential schemas in the reference. All other sources share one schema, `OAuthAuthentication`. */
const SCHEMA_NAMES: Partial<Readonly<Record<SourceType, string>>> = {
  NOTION: 'NotionAuthentication',
  ONEDRIVE: 'OneDriveAuthentication',
  SHAREPOINT: 'SharepointAuthentication',
  CONFLUENCE: 'ConfluenceAuthentication',
  ZENDESK: 'ZendeskAuthentication',
  ZOTERO: 'ZoteroAuthentication',
  GITBOOK: 'GitbookAuthetication',
  SALESFORCE: 'SalesforceAuthentication',
  FRESHDESK: 'FreskdeskAuthentication',
  S3: 'S3Authentication',
  AZURE_BLOB_STORAGE: 'AzureBlobStorageAuthentication',
  GITHUB: 'GithubAuthentication',
  GURU: 'GuruAuthentication',
  SERVICENOW: 'ServiceNowAuthentication',
  GONG: 'GongAuthentication',
};
const nameOf = (source: SourceType): string => SCHEMA_NAMES[source] ?? 'OAuthAuthentication';

/** Descriptions of credentials, by field. */
const FIELD_TEXTS: Readonly<Record<string, string>> = {
  access_token: 'Access token of the account, as the source issued it. It is stored encrypted.',
  refresh_token:
    'Token that renews the access token. The OAuth client of this service must have obtained it. If it is absent or null, the account has to be connected again once the access token expires.',
  workspace_id: 'Id of the Notion workspace that the token belongs to. A token of another workspace is rejected.',
  tenant_name: 'Id or domain of the Microsoft tenant of the account. Default, also for null: `common`.',
  site_name: 'Name or path of the SharePoint site, such as `teams/Crew`. Default, also for null: the root site.',
  subdomain: 'First part of the host of the account or site: `example` for `example.zendesk.com`.',
  access_token_secret: 'Secret that the source issued together with the access token (OAuth 1.0a).',
  username: 'Name of the user at the source to whom the token belongs.',
  zotero_id: 'Numeric id of the Zotero user whose libraries are connected, as text, such as `475425`.',
  organization_name: 'Id of the GitBook organization whose spaces are connected.',
  api_key: 'API key of an agent. The service can read what the agent can read. The key is stored encrypted.',
  access_key: 'Id of the access key. It identifies the account: another key is another data source.',
  access_key_secret: 'Secret that belongs to the access key. It is stored encrypted.',
  endpoint_url: 'Address of a store that is compatible with S3. Absent, null or empty: AWS.',
  account_name: 'Name of the storage account: 3 to 24 lower-case letters and digits.',
  account_key: 'One of the two access keys of the storage account, from the Azure portal. It is stored encrypted.',
  instance_subdomain: 'First part of the host of the instance: `example` for `example.service-now.com`.',
  client_id: 'Id of the OAuth client that obtained the tokens. It renews them.',
  client_secret: 'Secret of the OAuth client in `client_id`. It is stored encrypted with the connection.',
  redirect_uri: 'Redirect address that is registered with the OAuth client.',
  gong_account_email: 'E-mail address of the Gong account. It identifies the data source.',
};
/** Descriptions of credentials that have another meaning at the sources of one schema. */
const OWN_TEXTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ConfluenceAuthentication: {
    subdomain: 'First part of the host of the site: `example` for `example.atlassian.net`.',
  },
  SalesforceAuthentication: { domain: 'Host of the organization at Salesforce, such as `example.my.salesforce.com`.' },
  FreskdeskAuthentication: { domain: 'Domain of the account: `example` or `example.freshdesk.com`.' },
  ServiceNowAuthentication: {
    refresh_token:
      'Token that renews the access token, obtained by the OAuth client in `client_id`. If it is absent or null, the account has to be connected again once the access token expires.',
  },
  GuruAuthentication: { username: 'E-mail address of the Guru user who created the token.' },
  GithubAuthentication: {
    username: 'Login of the GitHub user to whom the token belongs; the login of another user returns 400.',
  },
};

/** Adds the description of a credential; test/system/reference/reference.test.ts reports a missing one. */
function described(schema: Joi.Schema, family: string, field: string): Joi.Schema {
  const text = OWN_TEXTS[family]?.[field] ?? FIELD_TEXTS[field];
  return text === undefined ? schema : schema.description(text);
}

const FAMILIES = [...new Set(NAMES.map(nameOf))].map((name) => {
  const sources = NAMES.filter((source) => nameOf(source) === name);
  const [fields = []] = sources.map((source) => CONNECT_CREDENTIALS[source]);
  return {
    name,
    sources,
    fields: Object.fromEntries(
      fields.map((field) => {
        const key = field.replace(/\?$/, '');
        return [key, described(key === field ? credential() : optional(), name, key)];
      }),
    ),
  };
});

const sourceOf = (names: readonly SourceType[]) => {
  const source = Joi.string().valid(...names);
  return (
    names.length > 1
      ? named(
          'SimpleOAuthDataSources',
          source.description('Sources whose accounts are connected by tokens alone, without further fields.'),
        ).description(
          'Service that issued the tokens. The credentials in `authentication` have a schema for each source, and this field selects it.',
        )
      : source.description(
          `Always \`${names.join()}\`. The credentials in \`authentication\` have a schema for each source, and this field selects it.`,
        )
  ).required();
};

/** Returns the schema of credentials, whose allowed fields depend on the source. */
export const suppliedCredentials = () =>
  typed<SuppliedCredentials>(
    Joi.alternatives().conditional('.source', {
      switch: FAMILIES.map(({ name, sources, fields }) => ({
        is: sourceOf(sources),
        then: named(
          name,
          Joi.object({ source: sourceOf(sources), ...fields }).description(
            sources.length > 1
              ? 'Tokens of an account at a source that needs no further fields, such as `GOOGLE_DRIVE` or `DROPBOX`.'
              : `Credentials of an account of the source \`${sources.join()}\`. They are verified at the source before they are stored.`,
          ),
        ),
      })),
      // For an unknown source, the error is reported for `source`.
      otherwise: hidden(
        Joi.object({
          source: Joi.string()
            .valid(...NAMES)
            .required(),
        }),
      ),
    }),
  ).required();
