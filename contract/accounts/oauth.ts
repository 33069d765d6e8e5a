/** OAuth connections of all sources: callback paths, stored grants, and the states of a connection attempt. */
import type { IngestOptions } from '../files/ingestOptions.js';
import type { TagValue } from '../files/records.js';
import type { OAuthSource } from './whiteLabel.js';

/** Callback paths, relative to /integrations/ of the public address. */
export const CALLBACK_PATHS: Readonly<Record<OAuthSource, string>> = {
  BOX: 'box',
  CONFLUENCE: 'confluence',
  DROPBOX: 'dropbox',
  GMAIL: 'gmail',
  GOOGLE_DRIVE: 'google',
  GOOGLE_CLOUD_STORAGE: 'gcs',
  INTERCOM: 'intercom',
  NOTION: 'notion',
  ONEDRIVE: 'onedrive',
  OUTLOOK: 'outlook',
  SALESFORCE: 'salesforce',
  SHAREPOINT: 'sharepoint',
  SLACK: 'slack',
  ZENDESK: 'zendesk',
  ZOTERO: 'zotero',
  GONG: 'gong',
  SERVICENOW: 'servicenow',
};

/** OAuth client credentials. */
export interface OAuthClient {
  readonly id: string;
  /** Null for a public client, which uses PKCE alone. */
  readonly secret: string | null;
}

/** OAuth 1.0a: the temporary credentials requested before the user consents. */
export interface RequestToken {
  readonly token: string;
  readonly secret: string;
}

/** The tokens of a user's consent. Stored encrypted in the data source. */
export interface StoredGrant {
  readonly accessToken: string;
  /** Null if the provider issues none: the access token is valid until the provider rejects it. */
  readonly refreshToken: string | null;
  /** Milliseconds since 1970. */
  readonly obtainedAt: number;
  /** Milliseconds since 1970; null if the provider does not state it. */
  readonly expiresAt: number | null;
  /** Parameters of the connection, from its request or from the token response. They contain no secrets. */
  readonly facts: Readonly<Record<string, string>>;
  /** The OAuth client that must refresh the tokens; null if the caller supplied tokens without a client. */
  readonly clientId: string | null;
  /** Only if the connection has its own client. */
  readonly clientSecret?: string;
  /** Granted scopes as the provider names them; absent if it did not state them, and in older grants. */
  readonly scopes?: readonly string[];
}

/** A stored grant. */
export interface VersionedGrant {
  readonly grant: StoredGrant;
  /** Changes with every write, for optimistic locking. */
  readonly version: string;
}

/** Stores the grant of one data source, and allows one refresh at a time over all processes. */
export interface GrantStore {
  /** Reads the grant; null once access is revoked. */
  read(): Promise<VersionedGrant | null>;
  /**
   * Locks the refresh of the tokens that this process has read, and returns the id of the lock. Null: another process
   * refreshes or has changed them. The lock of a crashed process expires.
   */
  claim(version: string, lifeMs: number): Promise<string | null>;
  /** Stores the new grant and releases the lock. Returns the new version, or null if the lock is no longer valid. */
  save(claim: string, version: string, grant: StoredGrant): Promise<string | null>;
  /** Releases the lock without a change. */
  release(claim: string): Promise<void>;
  /** Returns the organization's own client for this source; null if there is none. */
  ownClient(): Promise<OAuthClient | null>;
}

/** The options of a connection, stored with it: for the first sync, the file chooser, and later selections. */
export interface ConnectionOptions {
  readonly ingest: IngestOptions;
  /** Tags of every file. */
  readonly tags: Readonly<Record<string, TagValue>>;
  /** Request id of every file; null: each call has its own. */
  readonly requestId: string | null;
  readonly incrementalSync: boolean;
}

/** What happens after an account is connected. */
export interface ConnectionActions {
  readonly listItems: boolean;
  /** Applies only to sources that support it. */
  readonly syncFiles: boolean;
  /**
   * Whether a page of this service offers a file chooser: after the consent, or instead of it for an account that is
   * connected already. Applies only to sources that support it.
   */
  readonly offersChooser: boolean;
  /** Whether the browser is redirected to the chooser directly after the consent. */
  readonly opensChooser: boolean;
  readonly dataSourceTags: Readonly<Record<string, TagValue>>;
}

/** States of an attempt to connect by consent. */
export const ATTEMPT_STATES = [
  /** The user has not returned from the provider. */
  'waiting',
  /** The user returned with a code. */
  'returned',
  /** The code is being exchanged, so it may already be used. */
  'exchanging',
  /** The tokens are stored. */
  'granted',
  /** The data source exists. */
  'connected',
  /** The user refused. */
  'denied',
  'failed',
  /** The user did not return in time. */
  'expired',
  /** Cancelled by this service. */
  'cancelled',
] as const;
export type AttemptState = (typeof ATTEMPT_STATES)[number];
export const OPEN_ATTEMPT_STATES = ['waiting', 'returned', 'exchanging', 'granted'] as const satisfies AttemptState[];

/**
 * A field of oauth_url that names the account or server. Its value becomes a parameter of the connection, stored in
 * `facts` of its grant.
 */
export interface ConnectionField {
  readonly field: string;
  readonly parameter: string;
  /** Name of the field in POST /integrations/connect; absent: the same. */
  readonly suppliedAs?: string;
  /** Pattern of the accepted values. It is strict, because most values become part of a host name or path. */
  readonly pattern: RegExp;
  /** Description of the accepted values, for error messages. */
  readonly accepts: string;
  /** Whether the consent URL requires the field. */
  readonly isRequired?: true;
  readonly fallback?: string;
}

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
/** A Salesforce host. Hosts under lightning.force.com serve only pages, no API. */
export const SALESFORCE_HOST =
  /^(?!.*\.lightning\.force\.com$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:salesforce|force|cloudforce)\.com$/i;
const TENANT = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/i;
/** A site with its parent sites and its kind: `teams/Crew/Archive`. */
const SITE =
  /^[\p{L}\p{N}_](?:[\p{L}\p{N}_. -]{0,126}[\p{L}\p{N}_-])?(?:\/[\p{L}\p{N}_](?:[\p{L}\p{N}_. -]{0,126}[\p{L}\p{N}_-])?){0,9}$/u;
const EMAIL = /^[^\s@/?#|]{1,64}@[a-z0-9.-]{1,255}$/i;

const tenant: ConnectionField = {
  field: 'microsoft_tenant',
  parameter: 'tenant',
  suppliedAs: 'tenant_name',
  pattern: TENANT,
  accepts: 'the id or the domain of a tenant',
  fallback: 'common',
};
/** Fields by source. A source ignores the fields of others. */
export const CONNECTION_FIELDS: Partial<Readonly<Record<OAuthSource, readonly ConnectionField[]>>> = {
  ONEDRIVE: [tenant],
  OUTLOOK: [tenant],
  SHAREPOINT: [
    tenant,
    {
      field: 'sharepoint_site_name',
      parameter: 'site',
      suppliedAs: 'site_name',
      pattern: SITE,
      accepts: 'the name of a site, as in its address',
    },
  ],
  ZENDESK: [
    {
      field: 'zendesk_subdomain',
      parameter: 'subdomain',
      suppliedAs: 'subdomain',
      pattern: LABEL,
      accepts: 'the first part of the host',
      isRequired: true,
    },
  ],
  CONFLUENCE: [
    {
      field: 'confluence_subdomain',
      parameter: 'subdomain',
      suppliedAs: 'subdomain',
      pattern: LABEL,
      accepts: 'the first part of the host',
    },
  ],
  SALESFORCE: [
    {
      field: 'salesforce_domain',
      parameter: 'domain',
      suppliedAs: 'domain',
      pattern: SALESFORCE_HOST,
      accepts: 'a host of Salesforce, such as example.my.salesforce.com',
      fallback: 'login.salesforce.com',
    },
  ],
  GONG: [{ field: 'gong_account_email', parameter: 'email', pattern: EMAIL, accepts: 'an e-mail address' }],
};

/**
 * A source whose connections each have their own OAuth client. `field` is the object in a request that contains the
 * client's credentials; `fields` are the other fields of that object.
 */
interface ConnectionClient {
  readonly field: 'servicenow_credentials';
  readonly fields: readonly ConnectionField[];
}
export const CONNECTION_CLIENTS: Partial<Readonly<Record<OAuthSource, ConnectionClient>>> = {
  SERVICENOW: {
    field: 'servicenow_credentials',
    fields: [
      {
        field: 'instance_subdomain',
        parameter: 'instance',
        pattern: LABEL,
        accepts: 'the first part of the host of the instance',
        isRequired: true,
      },
    ],
  },
};
