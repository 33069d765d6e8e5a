/** Values of `source` (files) and `data_source_type` (data sources), exactly as in the public interface. */

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

/** Sources that settings of automatic sync may name. `canAutoSync` excludes those that do not support it. */
export const AUTO_SYNC_SOURCES: readonly SourceType[] = [
  ...CLOUD_STORAGE_SOURCES,
  ...KNOWLEDGE_SOURCES,
  ...MESSAGING_SOURCES,
  ...WEB_SOURCES,
];

/** The sources that support each connection option; all others ignore it. */
export const OPTION_SOURCES = {
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

/** Returns whether a source supports an option of a connection. */
export const supportsOption = (source: SourceType, option: keyof typeof OPTION_SOURCES): boolean =>
  (OPTION_SOURCES[option] as readonly SourceType[]).includes(source);
