import type { SourceType } from './sources.js';

/** Texts that a source asks for; a `?` stands behind those that may be absent. */
const TOKENS = ['access_token', 'refresh_token?'] as const;

/** What a caller hands over at POST /integrations/connect who has credentials of an account, as the contract has it. */
export const HANDED_OVER: Partial<Readonly<Record<SourceType, readonly string[]>>> = {
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

/** What is handed over beside tokens and no field of a consent is, as a fact of the connection. */
export const FACTS_HANDED_OVER: Partial<Readonly<Record<SourceType, Readonly<Record<string, string>>>>> = {
  NOTION: { workspace_id: 'workspace' },
};
