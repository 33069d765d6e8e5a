/**
 * The words for where a file came from: the values of `source` (files) and `data_source_type` (data sources).
 * Exactly as the public interface writes them.
 */

export const CLOUD_STORAGE_SOURCES = [
  'GOOGLE_CLOUD_STORAGE',
  'GOOGLE_DRIVE',
  'DROPBOX',
  'ONEDRIVE',
  'SHAREPOINT',
  'BOX',
  'S3',
  'AZURE_BLOB_STORAGE',
] as const;

export const KNOWLEDGE_SOURCES = [
  'NOTION',
  'NOTION_DATABASE',
  'INTERCOM',
  'CONFLUENCE',
  'ZENDESK',
  'ZOTERO',
  'FRESHDESK',
  'GITBOOK',
  'SALESFORCE',
  'SERVICENOW',
  'GURU',
  'DOCUMENT360',
  'GONG',
] as const;

export const MESSAGING_SOURCES = ['GMAIL', 'OUTLOOK', 'SLACK', 'GITHUB'] as const;

export const WEB_SOURCES = ['WEB_SCRAPE', 'RSS_FEED'] as const;

export const TEXT_SOURCES = [
  'TEXT',
  'RAW_TEXT',
  'CSV',
  'TSV',
  'PDF',
  'DOCX',
  'PPTX',
  'XLSX',
  'XLSM',
  'MD',
  'RTF',
  'JSON',
  'HTML',
  'EML',
  'MSG',
] as const;

export const IMAGE_SOURCES = ['JPG', 'JPEG', 'PNG'] as const;

export const AUDIO_SOURCES = ['MP3', 'MP2', 'AAC', 'WAV', 'FLAC', 'PCM', 'M4A', 'OGG', 'OPUS'] as const;

export const VIDEO_SOURCES = ['MPEG', 'MPG', 'MP4', 'WMV', 'AVI', 'MOV', 'MKV', 'FLV', 'WEBM'] as const;

export const SOURCE_TYPES = [
  ...CLOUD_STORAGE_SOURCES,
  ...KNOWLEDGE_SOURCES,
  ...MESSAGING_SOURCES,
  ...WEB_SOURCES,
  ...TEXT_SOURCES,
  ...IMAGE_SOURCES,
  ...AUDIO_SOURCES,
  ...VIDEO_SOURCES,
] as const;

export type SourceType = (typeof SOURCE_TYPES)[number];

/** What an organization or a user can have synced by itself: everything that has a place of its own to look at again. */
export const AUTO_SYNC_SOURCES: readonly SourceType[] = [
  ...CLOUD_STORAGE_SOURCES,
  ...KNOWLEDGE_SOURCES,
  ...MESSAGING_SOURCES,
  ...WEB_SOURCES,
];

/** Which sources honour an option of a connection; all others take no notice of it. */
export const HONOURED_BY = {
  sync_files_on_connection: ['INTERCOM', 'ZENDESK', 'GITBOOK', 'CONFLUENCE', 'SALESFORCE', 'FRESHDESK'],
  enable_file_picker: ['BOX', 'DROPBOX', 'GOOGLE_DRIVE', 'ONEDRIVE', 'SHAREPOINT'],
  automatically_open_file_picker: ['BOX', 'DROPBOX', 'GOOGLE_DRIVE', 'ONEDRIVE', 'SHAREPOINT'],
  incremental_sync: [
    'ONEDRIVE',
    'GOOGLE_DRIVE',
    'BOX',
    'DROPBOX',
    'INTERCOM',
    'GMAIL',
    'OUTLOOK',
    'ZENDESK',
    'CONFLUENCE',
    'NOTION',
    'SHAREPOINT',
    'SERVICENOW',
  ],
} as const satisfies Record<string, readonly SourceType[]>;

/** Whether an option of a connection means anything to a source. */
export const honours = (source: SourceType, option: keyof typeof HONOURED_BY): boolean =>
  (HONOURED_BY[option] as readonly SourceType[]).includes(source);

/** What there is to know of a source that accounts are connected to, before it is called. */
interface ConnectedSource {
  /** As sentences call it. */
  readonly name: string;
  /** `token`: its user hands us a credential that lives until it is taken back. `oauth`: its user consents in a browser. */
  readonly auth: 'token' | 'oauth';
  /**
   * Where its interfaces are; the setting SOURCE_URLS names others. No trailing slashes. `api` always; `authorize` and
   * `token` with OAuth, and `revoke` where its grants can be ended.
   */
  readonly urls: Readonly<Record<string, string>>;
  /** Requests of one account that one process has under way at most. */
  readonly requestsAtOnce: number;
  /** Other sources whose files come with its accounts: what their files are said to be from. */
  readonly brings?: readonly SourceType[];
  /** Whether ids of its items begin with that of their drive: callers may name the two apart, as id and root_id. */
  readonly hasDriveIds?: boolean;
  /** Whether it keeps documents in a form of its own, of which organizations may choose what they are given out as. */
  readonly exportsDocuments?: boolean;
  /** False where nothing of its accounts is synced by itself, whatever anybody asks for; unset: true. */
  readonly autoSync?: boolean;
}

/** Settings of connectors under this key hold for every source without some of its own. */
export const ALL_CONNECTORS = 'DEFAULT';

/** All of Microsoft's sources are one interface; `tenant` says whose people may consent. */
const MICROSOFT = {
  api: 'https://graph.microsoft.com/v1.0',
  authorize: 'https://login.microsoftonline.com/{tenant}/oauth2/v2.0/authorize',
  token: 'https://login.microsoftonline.com/{tenant}/oauth2/v2.0/token',
} as const;

/** Whoever has an account of Google consents here, whatever is asked for. */
const GOOGLE_CONSENT = {
  authorize: 'https://accounts.google.com/o/oauth2/v2/auth',
  token: 'https://oauth2.googleapis.com/token',
  revoke: 'https://oauth2.googleapis.com/revoke',
} as const;

/** The sources that accounts can be connected to: each has its folder in connectors/. */
export const CONNECTED_SOURCES = {
  GITBOOK: { name: 'GitBook', auth: 'token', urls: { api: 'https://api.gitbook.com/v1' }, requestsAtOnce: 4 },
  GITHUB: { name: 'GitHub', auth: 'token', urls: { api: 'https://api.github.com' }, requestsAtOnce: 4 },
  GURU: { name: 'Guru', auth: 'token', urls: { api: 'https://api.getguru.com/api/v1' }, requestsAtOnce: 4 },
  // Projects in the United States have an interface of their own, and so have those with private hosting: SOURCE_URLS.
  DOCUMENT360: {
    name: 'Document360',
    auth: 'token',
    urls: { api: 'https://apihub.document360.io' },
    requestsAtOnce: 4,
  },
  // An address of Amazon's is that of one region; those of others follow from it.
  S3: { name: 'S3', auth: 'token', urls: { api: 'https://s3.us-east-1.amazonaws.com' }, requestsAtOnce: 8 },
  AZURE_BLOB_STORAGE: {
    name: 'Azure Blob Storage',
    auth: 'token',
    // Each account is a host of its own.
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
      // Where bytes are had.
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
      // Each company has a host of its own, which is told with the tokens.
      api: 'https://{customer}.gong.io/v2',
      authorize: 'https://app.gong.io/oauth2/authorize',
      token: 'https://app.gong.io/oauth2/generate-customer-token',
    },
    // Gong takes three requests a second of a company.
    requestsAtOnce: 3,
  },
  NOTION: {
    name: 'Notion',
    auth: 'oauth',
    urls: {
      api: 'https://api.notion.com/v1',
      authorize: 'https://api.notion.com/v1/oauth/authorize',
      token: 'https://api.notion.com/v1/oauth/token',
    },
    // Three a second over some time is what one connection may ask.
    requestsAtOnce: 3,
    brings: ['NOTION_DATABASE'],
  },
  CONFLUENCE: {
    name: 'Confluence',
    auth: 'oauth',
    urls: {
      // All sites are behind one host: which one is meant stands in the path.
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
    // Each account is a host of its own.
    urls: { api: 'https://{domain}.freshdesk.com/api/v2' },
    requestsAtOnce: 4,
  },
  INTERCOM: {
    name: 'Intercom',
    auth: 'oauth',
    // Of workspaces in the United States; those elsewhere have hosts of their region.
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
    // Each account is a host of its own.
    urls: {
      api: 'https://{subdomain}.zendesk.com/api/v2',
      // What is attached, and where people open a ticket.
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
      // Where a document is had that is too long for being exported.
      documents: 'https://docs.google.com',
      ...GOOGLE_CONSENT,
    },
    exportsDocuments: true,
    requestsAtOnce: 4,
  },
  ONEDRIVE: { name: 'OneDrive', auth: 'oauth', urls: MICROSOFT, requestsAtOnce: 4, hasDriveIds: true },
  SHAREPOINT: { name: 'SharePoint', auth: 'oauth', urls: MICROSOFT, requestsAtOnce: 4, hasDriveIds: true },
  // Of one mailbox, Outlook takes four at once from all that one app does.
  OUTLOOK: { name: 'Outlook', auth: 'oauth', urls: MICROSOFT, requestsAtOnce: 4 },
  SERVICENOW: {
    name: 'ServiceNow',
    auth: 'oauth',
    // Each customer is a host of its own.
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
      // Where consent says that the organization is, which may be another host than people consent at.
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
      // Buckets are listed by project, and nobody names one.
      projects: 'https://cloudresourcemanager.googleapis.com/v1',
      identity: 'https://openidconnect.googleapis.com/v1',
      ...GOOGLE_CONSENT,
    },
    requestsAtOnce: 8,
  },
} as const satisfies Partial<Record<SourceType, ConnectedSource>>;
export type ConnectedSourceType = keyof typeof CONNECTED_SOURCES;

/** The external id of an item that is named with that of the drive it lies in. */
export function idInDrive(source: ConnectedSourceType, { id, root_id: root }: { id: string; root_id: string }): string {
  const { hasDriveIds = false }: ConnectedSource = CONNECTED_SOURCES[source];
  return !hasDriveIds || id === root || id.startsWith(`${root}/`) ? id : `${root}/${id}`;
}

/** The sources at which a person consents as for this one: where their account ends a grant, it may end it for all of these. */
export function sourcesOfConsent(source: ConnectedSourceType): ConnectedSourceType[] {
  const tokenOf = (one: ConnectedSourceType): string | undefined => {
    const { urls }: ConnectedSource = CONNECTED_SOURCES[one];
    return urls['token'];
  };
  const all = Object.keys(CONNECTED_SOURCES) as ConnectedSourceType[];
  return all.filter((one) => one === source || (tokenOf(one) !== undefined && tokenOf(one) === tokenOf(source)));
}

/** Whether an organization may choose what documents of a source are given out as. */
export function exportsDocuments(source: ConnectedSourceType): boolean {
  const row: ConnectedSource = CONNECTED_SOURCES[source];
  return row.exportsDocuments ?? false;
}

/** What the files of a source's accounts may be from: itself, and what else its accounts bring. */
export function sourcesOfFiles(source: SourceType): readonly SourceType[] {
  const row: ConnectedSource | undefined = isConnectedSource(source) ? CONNECTED_SOURCES[source] : undefined;
  return [source, ...(row?.brings ?? [])];
}

/** Whether records of a source can be synced by themselves. */
export function canAutoSync(type: SourceType): boolean {
  const row: ConnectedSource | undefined = isConnectedSource(type) ? CONNECTED_SOURCES[type] : undefined;
  return AUTO_SYNC_SOURCES.includes(type) && row?.autoSync !== false;
}

/** Whether files from this source have their content in a connected account. */
export const isOfAccount = (type: SourceType): boolean =>
  isConnectedSource(type) ||
  Object.values(CONNECTED_SOURCES).some(({ brings = [] }: ConnectedSource) => brings.includes(type));

export const isConnectedSource = (type: SourceType): type is ConnectedSourceType =>
  Object.hasOwn(CONNECTED_SOURCES, type);
