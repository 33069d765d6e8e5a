import type { ConnectedSourceType } from '../../../contract/sources/sources.js';
import { startS3Source } from '../../emulators/s3Source.js';
import { standForAzure } from './azureBlobStorage.js';
import { standForBox } from './box.js';
import { standForFreshdesk } from './freshdesk.js';
import { standForDropbox } from './dropbox.js';
import { standForConfluence } from './confluence.js';
import { standForDocument360 } from './document360.js';
import { standForGitBook } from './gitbook.js';
import { standForGitHub } from './github.js';
import { standForOneDrive, standForOutlook, standForSharePoint } from './microsoft.js';
import { standForGmail } from './gmail.js';
import { standForGong } from './gong.js';
import { standForGoogleCloudStorage } from './googleCloudStorage.js';
import { standForGoogleDrive } from './googleDrive.js';
import { standForGuru } from './guru.js';
import { standForNotion } from './notion.js';
import { standForS3 } from './s3.js';
import { standForSalesforce } from './salesforce.js';
import { standForServiceNow } from './serviceNow.js';
import { standForSlack } from './slack.js';
import { standForIntercom } from './intercom.js';
import { standForZotero } from './zotero.js';
import type { SourceStand } from './stand.js';
import { standForZendesk } from './zendesk.js';

/** Starts the stand of each source. */
export const SOURCE_STANDS: Readonly<Record<ConnectedSourceType, () => Promise<SourceStand>>> = {
  CONFLUENCE: standForConfluence,
  DOCUMENT360: standForDocument360,
  GITBOOK: standForGitBook,
  GITHUB: standForGitHub,
  GURU: standForGuru,
  NOTION: standForNotion,
  ONEDRIVE: standForOneDrive,
  OUTLOOK: standForOutlook,
  SHAREPOINT: standForSharePoint,
  GMAIL: standForGmail,
  GOOGLE_CLOUD_STORAGE: standForGoogleCloudStorage,
  GOOGLE_DRIVE: standForGoogleDrive,
  S3: async () => standForS3(await startS3Source()),
  AZURE_BLOB_STORAGE: standForAzure,
  BOX: standForBox,
  DROPBOX: standForDropbox,
  GONG: standForGong,
  SLACK: standForSlack,
  ZENDESK: standForZendesk,
  INTERCOM: standForIntercom,
  FRESHDESK: standForFreshdesk,
  SERVICENOW: standForServiceNow,
  SALESFORCE: standForSalesforce,
  ZOTERO: standForZotero,
};
