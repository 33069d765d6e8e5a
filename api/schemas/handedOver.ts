import Joi from 'joi';

import { CONNECT_CREDENTIALS } from '../../contract/connectCredentials.js';
import type { SourceType } from '../../contract/sources.js';
import { orNull } from './fields.js';
import { credential } from './integrations.js';
import { typed } from './inferred.js';
import { hidden, named } from './reference.js';

/** Credentials with which a caller connects an account. */
export type HandedOver = { readonly source: SourceType } & Readonly<Record<string, string | undefined>>;

const optional = () => orNull(Joi.string().allow('').max(4_096));
const NAMES = Object.keys(CONNECT_CREDENTIALS) as SourceType[];

/** Names of the schemas in the reference. Sources with one name have the same credentials. */
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

const FAMILIES = [...new Set(NAMES.map(nameOf))].map((name) => {
  const sources = NAMES.filter((source) => nameOf(source) === name);
  const [fields = []] = sources.map((source) => CONNECT_CREDENTIALS[source]);
  return {
    name,
    sources,
    fields: Object.fromEntries(
      fields.map((field) => (field.endsWith('?') ? [field.slice(0, -1), optional()] : [field, credential()])),
    ),
  };
});

const sourceOf = (names: readonly SourceType[]) => {
  const source = Joi.string().valid(...names);
  return (names.length > 1 ? named('SimpleOAuthDataSources', source) : source).required();
};

/** The allowed fields depend on the source. */
export const handedOver = () =>
  typed<HandedOver>(
    Joi.alternatives().conditional('.source', {
      switch: FAMILIES.map(({ name, sources, fields }) => ({
        is: sourceOf(sources),
        then: named(name, Joi.object({ source: sourceOf(sources), ...fields })),
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
