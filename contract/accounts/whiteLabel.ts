import type { SourceType } from '../sources/sources.js';

/** OAuth sources. Each can be connected through an organization's own client. */
export const OAUTH_SOURCES = [
  'BOX',
  'CONFLUENCE',
  'DROPBOX',
  'GMAIL',
  'GOOGLE_DRIVE',
  'GOOGLE_CLOUD_STORAGE',
  'INTERCOM',
  'NOTION',
  'ONEDRIVE',
  'OUTLOOK',
  'SALESFORCE',
  'SHAREPOINT',
  'SLACK',
  'ZENDESK',
  'ZOTERO',
  'GONG',
  'SERVICENOW',
] as const satisfies SourceType[];
export type OAuthSource = (typeof OAUTH_SOURCES)[number];
export const isOAuthSource = (type: SourceType): type is OAuthSource =>
  (OAUTH_SOURCES as readonly SourceType[]).includes(type);

/** Credentials of an OAuth client that responses may contain. */
export const PLAIN_CREDENTIALS = [
  'client_id',
  'redirect_uri',
  'file_picker_client_id',
  'file_picker_redirect_uri',
] as const;
/** Credentials that are stored encrypted and never returned. */
export const SECRET_CREDENTIALS = ['client_secret', 'api_key'] as const;
export type SecretCredential = (typeof SECRET_CREDENTIALS)[number];

/** An organization's own OAuth client, as supplied. */
export type OAuthCredentials = { client_id: string; redirect_uri: string } & Partial<
  Record<(typeof PLAIN_CREDENTIALS)[number] | SecretCredential, string>
>;

export interface WhiteLabelInput {
  readonly data_source_type: OAuthSource;
  readonly credentials: OAuthCredentials;
}

/**
 * Groups of sources whose OAuth clients have the same credentials, `extras`, in addition to client_id, redirect_uri and
 * client_secret.
 */
export const CREDENTIAL_FAMILIES: readonly {
  readonly sources: readonly OAuthSource[];
  readonly extras: readonly (keyof OAuthCredentials)[];
}[] = [
  { sources: ['GOOGLE_DRIVE'], extras: ['api_key'] },
  { sources: ['ONEDRIVE', 'SHAREPOINT'], extras: ['file_picker_client_id', 'file_picker_redirect_uri'] },
  {
    sources: OAUTH_SOURCES.filter((source) => !['GOOGLE_DRIVE', 'ONEDRIVE', 'SHAREPOINT'].includes(source)),
    extras: [],
  },
];
