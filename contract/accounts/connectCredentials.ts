import type { SourceType } from '../sources/sources.js';

/** Tokens that a source requires; a `?` marks optional ones. */
const TOKENS = ['access_token', 'refresh_token?'] as const;

/**
 * Credential fields of POST /integrations/connect for callers that already have tokens, as the contract defines them.
 */
export const CONNECT_CREDENTIALS: Partial<Readonly<Record<SourceType, readonly string[]>>> = {
  GOOGLE_DRIVE: TOKENS,
  INTERCOM: TOKENS,
  DROPBOX: TOKENS,
  BOX: TOKENS,
  GMAIL: TOKENS,
  OUTLOOK: TOKENS,
  SLACK: TOKENS,
  GOOGLE_CLOUD_STORAGE: TOKENS,
  NOTION: ['access_token', 'workspace_id'],
  ONEDRIVE: [...TOKENS, 'tenant_name?'],
  SHAREPOINT: [...TOKENS, 'tenant_name?', 'site_name?'],
  CONFLUENCE: [...TOKENS, 'subdomain'],
  ZENDESK: ['access_token', 'subdomain'],
  ZOTERO: ['access_token', 'access_token_secret', 'username', 'zotero_id'],
  GITBOOK: ['access_token', 'organization_name'],
  SALESFORCE: [...TOKENS, 'domain'],
  FRESHDESK: ['domain', 'api_key'],
  S3: ['access_key', 'access_key_secret', 'endpoint_url?'],
  AZURE_BLOB_STORAGE: ['account_name', 'account_key'],
  GITHUB: ['access_token', 'username'],
  GURU: ['access_token', 'username'],
  SERVICENOW: [...TOKENS, 'instance_subdomain', 'client_id', 'client_secret', 'redirect_uri'],
  GONG: [...TOKENS, 'gong_account_email'],
};

/** Fields that are sent with tokens but are not part of a consent. They become parameters of the connection. */
export const CREDENTIAL_FIELDS: Partial<Readonly<Record<SourceType, Readonly<Record<string, string>>>>> = {
  NOTION: { workspace_id: 'workspace' },
};
