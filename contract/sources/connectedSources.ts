import { AUTO_SYNC_SOURCES, type SourceType } from './sources.js';

/** Static properties of a source with connected accounts. */
export interface ConnectedSource {
  /** Display name. */
  readonly name: string;
  /**
   * `token`: the user supplies a credential that is valid until it is revoked. `oauth`: the user consents in a browser.
   */
  readonly auth: 'token' | 'oauth';
  /**
   * Base URLs without trailing slashes; the setting SOURCE_URLS overrides them. `api` always exists; `authorize` and
   * `token` with OAuth, and `revoke` if grants can be revoked.
   */
  readonly urls: Readonly<Record<string, string>>;
  /** Maximum number of concurrent requests per account, over all processes of a deployment. */
  readonly requestsAtOnce: number;
  /**
   * Minimum milliseconds between two requests of an account, for ten minutes after the source rate limited one. Unset:
   * none. Set only for a source that publishes a maximum number of requests per second.
   */
  readonly intervalMs?: number;
  /** Further values of `source` that files of the accounts have. */
  readonly furtherSources?: readonly SourceType[];
  /** Whether item ids start with the id of their drive. Callers may then send the two separately, as id and root_id. */
  readonly hasDriveIds?: boolean;
  /** Whether the source has its own document format. Organizations may then choose the export format. */
  readonly exportsDocuments?: boolean;
  /** False if the source does not support automatic sync; absent: true. */
  readonly autoSync?: boolean;
}

/** Settings of connectors under this key apply to every source without its own. */
export const ALL_CONNECTORS = 'DEFAULT';

/**
 * All Microsoft sources use the same API; `tenant` restricts who may consent. National clouds have their own hosts
 * and OAuth clients: SOURCE_URLS selects one of them for the whole deployment.
 */
const MICROSOFT = {
  api: 'https://graph.microsoft.com/v1.0',
  authorize: 'https://login.microsoftonline.com/{tenant}/oauth2/v2.0/authorize',
  token: 'https://login.microsoftonline.com/{tenant}/oauth2/v2.0/token',
} as const;

/** All Google sources share this consent. */
const GOOGLE_CONSENT = {
  authorize: 'https://accounts.google.com/o/oauth2/v2/auth',
  token: 'https://oauth2.googleapis.com/token',
  revoke: 'https://oauth2.googleapis.com/revoke',
} as const;

/** The sources with connected accounts. Each has a folder in connectors/. */
export const CONNECTED_SOURCES = {
  GITBOOK: { name: 'GitBook', auth: 'token', urls: { api: 'https://api.gitbook.com/v1' }, requestsAtOnce: 4 },
  GITHUB: { name: 'GitHub', auth: 'token', urls: { api: 'https://api.github.com' }, requestsAtOnce: 4 },
  GURU: { name: 'Guru', auth: 'token', urls: { api: 'https://api.getguru.com/api/v1' }, requestsAtOnce: 4 },
  // Projects in the United States and with private hosting have other hosts: set SOURCE_URLS.
  DOCUMENT360: {
    name: 'Document360',
    auth: 'token',
    urls: { api: 'https://apihub.document360.io' },
    requestsAtOnce: 4,
  },
  // An Amazon URL belongs to one region; the client derives the URLs of the others.
  S3: { name: 'S3', auth: 'token', urls: { api: 'https://s3.us-east-1.amazonaws.com' }, requestsAtOnce: 8 },
  AZURE_BLOB_STORAGE: {
    name: 'Azure Blob Storage',
    auth: 'token',
    // Each account has its own host.
    urls: { api: 'https://{account}.blob.core.windows.net' },
    requestsAtOnce: 8,
  },
  BOX: {
    name: 'Box',
    auth: 'oauth',
    urls: {
      api: 'https://api.box.com/2.0',
      authorize: 'https://account.box.com/api/oauth2/authorize',
      token: 'https://api.box.com/oauth2/token',
    },
    requestsAtOnce: 4,
  },
  DROPBOX: {
    name: 'Dropbox',
    auth: 'oauth',
    urls: {
      api: 'https://api.dropboxapi.com/2',
      // Host of file contents.
      content: 'https://content.dropboxapi.com/2',
      authorize: 'https://www.dropbox.com/oauth2/authorize',
      token: 'https://api.dropboxapi.com/oauth2/token',
    },
    requestsAtOnce: 4,
  },
  GONG: {
    name: 'Gong',
    auth: 'oauth',
    urls: {
      // Each company has its own host, which the token response names.
      api: 'https://{customer}.gong.io/v2',
      authorize: 'https://app.gong.io/oauth2/authorize',
      token: 'https://app.gong.io/oauth2/generate-customer-token',
    },
    // Gong allows three requests per second and company, unless it raised the limit.
    requestsAtOnce: 3,
    intervalMs: 340,
  },
  NOTION: {
    name: 'Notion',
    auth: 'oauth',
    urls: {
      api: 'https://api.notion.com/v1',
      authorize: 'https://api.notion.com/v1/oauth/authorize',
      token: 'https://api.notion.com/v1/oauth/token',
    },
    // Notion allows an average of three requests per second and connection.
    requestsAtOnce: 3,
    furtherSources: ['NOTION_DATABASE'],
  },
  CONFLUENCE: {
    name: 'Confluence',
    auth: 'oauth',
    urls: {
      // All sites share one host: the path names the site.
      api: 'https://api.atlassian.com',
      authorize: 'https://auth.atlassian.com/authorize',
      token: 'https://auth.atlassian.com/oauth/token',
    },
    requestsAtOnce: 4,
  },
  SLACK: {
    name: 'Slack',
    auth: 'oauth',
    urls: {
      api: 'https://slack.com/api',
      authorize: 'https://slack.com/oauth/v2/authorize',
      token: 'https://slack.com/api/oauth.v2.access',
      revoke: 'https://slack.com/api/auth.revoke',
    },
    requestsAtOnce: 4,
    autoSync: false,
  },
  FRESHDESK: {
    name: 'Freshdesk',
    auth: 'token',
    // Each account has its own host.
    urls: { api: 'https://{domain}.freshdesk.com/api/v2' },
    requestsAtOnce: 4,
  },
  INTERCOM: {
    name: 'Intercom',
    auth: 'oauth',
    // Host of workspaces in the United States. Intercom routes its requests to the workspace's region; set
    // SOURCE_URLS to the host of that region to avoid the detour through the United States.
    // https://developers.intercom.com/building-apps/docs/rest-apis
    urls: {
      api: 'https://api.intercom.io',
      authorize: 'https://app.intercom.com/oauth',
      token: 'https://api.intercom.io/auth/eagle/token',
    },
    requestsAtOnce: 4,
  },
  ZENDESK: {
    name: 'Zendesk',
    auth: 'oauth',
    // Each account has its own host.
    urls: {
      api: 'https://{subdomain}.zendesk.com/api/v2',
      // Attachments, and ticket pages.
      files: 'https://{subdomain}.zendesk.com',
      authorize: 'https://{subdomain}.zendesk.com/oauth/authorizations/new',
      token: 'https://{subdomain}.zendesk.com/oauth/tokens',
    },
    requestsAtOnce: 4,
  },
  GOOGLE_DRIVE: {
    name: 'Google Drive',
    auth: 'oauth',
    urls: {
      api: 'https://www.googleapis.com/drive/v3',
      // Host for documents that are too long to export.
      documents: 'https://docs.google.com',
      ...GOOGLE_CONSENT,
    },
    exportsDocuments: true,
    requestsAtOnce: 4,
  },
  ONEDRIVE: { name: 'OneDrive', auth: 'oauth', urls: MICROSOFT, requestsAtOnce: 4, hasDriveIds: true },
  SHAREPOINT: { name: 'SharePoint', auth: 'oauth', urls: MICROSOFT, requestsAtOnce: 4, hasDriveIds: true },
  // Outlook allows an app four concurrent requests per mailbox.
  OUTLOOK: { name: 'Outlook', auth: 'oauth', urls: MICROSOFT, requestsAtOnce: 4 },
  SERVICENOW: {
    name: 'ServiceNow',
    auth: 'oauth',
    // Each customer has its own host.
    urls: {
      api: 'https://{instance}.service-now.com/api/now',
      authorize: 'https://{instance}.service-now.com/oauth_auth.do',
      token: 'https://{instance}.service-now.com/oauth_token.do',
    },
    requestsAtOnce: 4,
  },
  SALESFORCE: {
    name: 'Salesforce',
    auth: 'oauth',
    urls: {
      // The instance named in the token response, which may be another host than the consent page's.
      api: 'https://{instance}/services/data/v67.0',
      identity: 'https://{instance}/services/oauth2',
      authorize: 'https://{domain}/services/oauth2/authorize',
      token: 'https://{domain}/services/oauth2/token',
    },
    requestsAtOnce: 4,
  },
  ZOTERO: {
    name: 'Zotero',
    auth: 'oauth',
    urls: {
      api: 'https://api.zotero.org',
      request: 'https://www.zotero.org/oauth/request',
      authorize: 'https://www.zotero.org/oauth/authorize',
      token: 'https://www.zotero.org/oauth/access',
    },
    requestsAtOnce: 4,
  },
  GMAIL: {
    name: 'Gmail',
    auth: 'oauth',
    urls: { api: 'https://gmail.googleapis.com/gmail/v1/users/me', ...GOOGLE_CONSENT },
    requestsAtOnce: 5,
  },
  GOOGLE_CLOUD_STORAGE: {
    name: 'Google Cloud Storage',
    auth: 'oauth',
    urls: {
      api: 'https://storage.googleapis.com/storage/v1',
      // The API lists buckets by project, and the caller names no project.
      projects: 'https://cloudresourcemanager.googleapis.com/v1',
      identity: 'https://openidconnect.googleapis.com/v1',
      ...GOOGLE_CONSENT,
    },
    requestsAtOnce: 8,
  },
} as const satisfies Partial<Record<SourceType, ConnectedSource>>;

/**
 * Excludes keys that are not in SOURCE_TYPES. The compiler reports such a key once, above, and not at each use of this
 * type.
 */
export type ConnectedSourceType = Extract<keyof typeof CONNECTED_SOURCES, SourceType>;

/** Returns the external id of an item that the caller names with the id of its drive. */
export function idInDrive(source: ConnectedSourceType, { id, root_id: root }: { id: string; root_id: string }): string {
  const { hasDriveIds = false }: ConnectedSource = CONNECTED_SOURCES[source];
  return !hasDriveIds || id === root || id.startsWith(`${root}/`) ? id : `${root}/${id}`;
}

/** Returns the sources that share this source's consent. Revoking a grant of one may revoke it for all of them. */
export function sourcesOfConsent(source: ConnectedSourceType): ConnectedSourceType[] {
  const tokenOf = (other: ConnectedSourceType): string | undefined => {
    const { urls }: ConnectedSource = CONNECTED_SOURCES[other];
    return urls['token'];
  };
  const allSources = Object.keys(CONNECTED_SOURCES) as ConnectedSourceType[];
  return allSources.filter(
    (other) => other === source || (tokenOf(other) !== undefined && tokenOf(other) === tokenOf(source)),
  );
}

/** Returns whether an organization may choose the export format of a source's documents. */
export function exportsDocuments(source: ConnectedSourceType): boolean {
  const row: ConnectedSource = CONNECTED_SOURCES[source];
  return row.exportsDocuments ?? false;
}

/** Returns the sources that files of an account may have: its own, and those in `furtherSources`. */
export function sourcesOfFiles(source: SourceType): readonly SourceType[] {
  const row: ConnectedSource | undefined = isConnectedSource(source) ? CONNECTED_SOURCES[source] : undefined;
  return [source, ...(row?.furtherSources ?? [])];
}

/** Returns whether records of a source can be synced automatically. */
export function canAutoSync(type: SourceType): boolean {
  const row: ConnectedSource | undefined = isConnectedSource(type) ? CONNECTED_SOURCES[type] : undefined;
  return AUTO_SYNC_SOURCES.includes(type) && row?.autoSync !== false;
}

/** Returns whether the content of a source's files is in a connected account. */
export const isOfAccount = (type: SourceType): boolean =>
  isConnectedSource(type) ||
  Object.values(CONNECTED_SOURCES).some(({ furtherSources = [] }: ConnectedSource) => furtherSources.includes(type));

export const isConnectedSource = (type: SourceType): type is ConnectedSourceType =>
  Object.hasOwn(CONNECTED_SOURCES, type);
