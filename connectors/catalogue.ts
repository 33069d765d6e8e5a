/** The catalogue of sources: one line each. The row of a source is in contract/sources/connectedSources.ts. */
import type { ConnectedSourceType } from '../contract/sources/connectedSources.js';
import type { Connector, SourceAbout } from './connector.js';
import { azureBlobStorage } from './azureBlobStorage/index.js';
import { box } from './box/index.js';
import { freshdesk } from './freshdesk/index.js';
import { dropbox } from './dropbox/index.js';
import { confluence } from './confluence/index.js';
import { document360 } from './document360/index.js';
import { gitbook } from './gitbook/index.js';
import { github } from './github/index.js';
import { gong } from './gong/index.js';
import { notion } from './notion/index.js';
import { guru } from './guru/index.js';
import { oneDrive } from './microsoft/oneDrive.js';
import { outlook } from './microsoft/outlook/index.js';
import { sharePoint } from './microsoft/sharePoint/index.js';
import { googleDrive } from './google/drive/index.js';
import { gmail } from './google/gmail/index.js';
import { googleCloudStorage } from './google/storage/index.js';
import { intercom } from './intercom/index.js';
import { s3 } from './s3/index.js';
import { salesforce } from './salesforce/index.js';
import { serviceNow } from './serviceNow/index.js';
import { slack } from './slack/index.js';
import { zendesk } from './zendesk/index.js';
import { zotero } from './zotero/index.js';

export const CONNECTORS: Readonly<Record<ConnectedSourceType, Connector<never>>> = {
  CONFLUENCE: confluence,
  DOCUMENT360: document360,
  GITBOOK: gitbook,
  GITHUB: github,
  GMAIL: gmail,
  GOOGLE_CLOUD_STORAGE: googleCloudStorage,
  GOOGLE_DRIVE: googleDrive,
  GURU: guru,
  NOTION: notion,
  ONEDRIVE: oneDrive,
  OUTLOOK: outlook,
  S3: s3,
  SHAREPOINT: sharePoint,
  AZURE_BLOB_STORAGE: azureBlobStorage,
  BOX: box,
  DROPBOX: dropbox,
  GONG: gong,
  SLACK: slack,
  ZENDESK: zendesk,
  INTERCOM: intercom,
  FRESHDESK: freshdesk,
  SERVICENOW: serviceNow,
  SALESFORCE: salesforce,
  ZOTERO: zotero,
};

/** The documentation of a source, with properties derived from its connector. */
export interface SourceDescription extends SourceAbout {
  /** Whether the source has a change feed. */
  readonly hasChanges: boolean;
  /** Maximum number of concurrent requests of the accounts that share a limit of an OAuth client; null: none share one. */
  readonly sharedRequestsAtOnce: number | null;
}

/** Returns the documentation of a source. */
export function describeSource(source: ConnectedSourceType): SourceDescription {
  const { about, changes, sharedLimit } = CONNECTORS[source];
  return { ...about, hasChanges: changes !== undefined, sharedRequestsAtOnce: sharedLimit?.requestsAtOnce ?? null };
}
