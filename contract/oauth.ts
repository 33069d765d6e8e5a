/** What connecting by consent has in common for all sources: where people come back to, and what is kept of a grant. */
import type { IngestOptions } from './ingestOptions.js';
import type { TagValue } from './records.js';
import type { OAuthSource } from './whiteLabel.js';

/** Where providers send people back to: below /integrations/ of our public address. */
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

/** By what a provider knows us. */
export interface OAuthClient {
  readonly id: string;
  /** Null for a client that has none, and proves itself by PKCE alone. */
  readonly secret: string | null;
}

/** Of OAuth 1.0a: what a person consents to, asked for before they do. */
export interface RequestToken {
  readonly token: string;
  readonly secret: string;
}

/** What is kept of a person's consent: sealed, in the data source. */
export interface StoredGrant {
  readonly accessToken: string;
  /** Null where the provider gives none: the access token lives until it is refused. */
  readonly refreshToken: string | null;
  /** Milliseconds since 1970. */
  readonly obtainedAt: number;
  /** The same; null where the provider does not say. */
  readonly expiresAt: number | null;
  /** What the connection was made with, or the answer told. No secrets. */
  readonly facts: Readonly<Record<string, string>>;
  /** The client that refreshes must use; null where the tokens were handed to us and nobody said. */
  readonly clientId: string | null;
  /** Only where the client is this connection's own. */
  readonly clientSecret?: string;
  /** What was granted, in the provider's words; absent where it did not say, and in older grants. */
  readonly scopes?: readonly string[];
}

/** A grant as it rests. */
export interface KeptGrant {
  readonly grant: StoredGrant;
  /** Another one after every write: what was read is changed only while it is still there. */
  readonly version: string;
}

/** Where the grant of one data source rests. One refresh at a time among all processes is its doing. */
export interface GrantKeeper {
  /** Null once access is revoked. */
  read(): Promise<KeptGrant | null>;
  /**
   * Writes down that this process is about to refresh what it has read. Null: somebody else is at it, or has changed it.
   * A claim that was never ended, because its process died, ends by itself.
   */
  claim(version: string, lifeMs: number): Promise<string | null>;
  /** Ends a claim with the new grant, if it is still ours: answers the new version, or null where it is not. */
  keep(claim: string, version: string, grant: StoredGrant): Promise<string | null>;
  /** Ends a claim with nothing changed. */
  release(claim: string): Promise<void>;
  /** The organization's own client for this source; null where it has none. */
  ownClient(): Promise<OAuthClient | null>;
}

/** What a connection was asked to do, kept with it: for what is synced at once, from the chooser, and by later selections. */
export interface ConnectionOptions {
  readonly ingest: IngestOptions;
  /** Of every file. */
  readonly tags: Readonly<Record<string, TagValue>>;
  /** Of every file; null: each call has one of its own. */
  readonly requestId: string | null;
  readonly incrementalSync: boolean;
}

/** What is to happen once the account is there. */
export interface ConnectionWishes {
  readonly listItems: boolean;
  /** Where the source honours it. */
  readonly syncFiles: boolean;
  /** Whether the page offers to choose items; only where the source honours it. */
  readonly offersChooser: boolean;
  readonly opensChooser: boolean;
  readonly dataSourceTags: Readonly<Record<string, TagValue>>;
}

/** How far a connection by consent is. */
export const ATTEMPT_STATES = [
  /** The person is at the provider. */
  'waiting',
  /** They came back with a code. */
  'returned',
  /** The code is being exchanged: it may have been used up. */
  'exchanging',
  /** We have the tokens. */
  'granted',
  /** The data source is there. */
  'connected',
  /** They said no. */
  'denied',
  'failed',
  /** They did not come back in time. */
  'expired',
  /** Stopped from our side. */
  'cancelled',
] as const;
export type AttemptState = (typeof ATTEMPT_STATES)[number];
export const OPEN_ATTEMPT_STATES = ['waiting', 'returned', 'exchanging', 'granted'] as const satisfies AttemptState[];

/** A field of oauth_url that says what account, or whose server, is meant: it becomes a fact of the connection. */
export interface FactField {
  readonly field: string;
  readonly fact: string;
  /** As POST /integrations/connect calls the field; unset: the same. */
  readonly handedOverAs?: string;
  /** It stands in addresses: what does not match is refused. */
  readonly pattern: RegExp;
  /** As people are told. */
  readonly takes: string;
  /** Without it there is no address to consent at. */
  readonly isNeeded?: true;
  readonly fallback?: string;
}

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
/** Of Salesforce; where its pages are, nothing answers programs. */
export const SALESFORCE_HOST =
  /^(?!.*\.lightning\.force\.com$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:salesforce|force|cloudforce)\.com$/i;
const TENANT = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/i;
/** With the sites that it lies in, and what kind of site that is: `teams/Crew/Archive`. */
const SITE =
  /^[\p{L}\p{N}_](?:[\p{L}\p{N}_. -]{0,126}[\p{L}\p{N}_-])?(?:\/[\p{L}\p{N}_](?:[\p{L}\p{N}_. -]{0,126}[\p{L}\p{N}_-])?){0,9}$/u;
const EMAIL = /^[^\s@/?#|]{1,64}@[a-z0-9.-]{1,255}$/i;

const tenant: FactField = {
  field: 'microsoft_tenant',
  fact: 'tenant',
  handedOverAs: 'tenant_name',
  pattern: TENANT,
  takes: 'the id or the domain of a tenant',
  fallback: 'common',
};
/** By source; a source takes no notice of the fields of others. */
export const FACT_FIELDS: Partial<Readonly<Record<OAuthSource, readonly FactField[]>>> = {
  ONEDRIVE: [tenant],
  OUTLOOK: [tenant],
  SHAREPOINT: [
    tenant,
    {
      field: 'sharepoint_site_name',
      fact: 'site',
      handedOverAs: 'site_name',
      pattern: SITE,
      takes: 'the name of a site, as in its address',
    },
  ],
  ZENDESK: [
    {
      field: 'zendesk_subdomain',
      fact: 'subdomain',
      handedOverAs: 'subdomain',
      pattern: LABEL,
      takes: 'the first part of the host',
      isNeeded: true,
    },
  ],
  CONFLUENCE: [
    {
      field: 'confluence_subdomain',
      fact: 'subdomain',
      handedOverAs: 'subdomain',
      pattern: LABEL,
      takes: 'the first part of the host',
    },
  ],
  SALESFORCE: [
    {
      field: 'salesforce_domain',
      fact: 'domain',
      handedOverAs: 'domain',
      pattern: SALESFORCE_HOST,
      takes: 'a host of Salesforce, such as example.my.salesforce.com',
      fallback: 'login.salesforce.com',
    },
  ],
  GONG: [{ field: 'gong_account_email', fact: 'email', pattern: EMAIL, takes: 'an e-mail address' }],
};

/** Of sources where each connection brings a client of its own: the object it comes in, and what else that says. */
interface BroughtClient {
  readonly field: 'servicenow_credentials';
  readonly facts: readonly FactField[];
}
export const BROUGHT_CLIENTS: Partial<Readonly<Record<OAuthSource, BroughtClient>>> = {
  SERVICENOW: {
    field: 'servicenow_credentials',
    facts: [
      {
        field: 'instance_subdomain',
        fact: 'instance',
        pattern: LABEL,
        takes: 'the first part of the host of the instance',
        isNeeded: true,
      },
    ],
  },
};
