import type { ConnectedSourceType } from '../../../contract/sources/sources.js';
import { startS3Source } from '../../emulators/s3Source.js';
import { fixtureForAzure } from './azureBlobStorage.js';
import { fixtureForBox } from './box.js';
import { fixtureForFreshdesk } from './freshdesk.js';
import { fixtureForDropbox } from './dropbox.js';
import { fixtureForConfluence } from './confluence.js';
import { fixtureForDocument360 } from './document360.js';
import { fixtureForGitBook } from './gitbook.js';
import { fixtureForGitHub } from './github.js';
import { fixtureForOneDrive, fixtureForOutlook, fixtureForSharePoint } from './microsoft.js';
import { fixtureForGmail } from './gmail.js';
import { fixtureForGong } from './gong.js';
import { fixtureForGoogleCloudStorage } from './googleCloudStorage.js';
import { fixtureForGoogleDrive } from './googleDrive.js';
import { fixtureForGuru } from './guru.js';
import { fixtureForNotion } from './notion.js';
import { fixtureForS3 } from './s3.js';
import { fixtureForSalesforce } from './salesforce.js';
import { fixtureForServiceNow } from './serviceNow.js';
import { fixtureForSlack } from './slack.js';
import { fixtureForIntercom } from './intercom.js';
import { fixtureForZotero } from './zotero.js';
import type { SourceFixture } from './fixture.js';
import { fixtureForZendesk } from './zendesk.js';

/** Starts the fixture of each source. */
export const SOURCE_FIXTURES: Readonly<Record<ConnectedSourceType, () => Promise<SourceFixture>>> = {
  CONFLUENCE: fixtureForConfluence,
  DOCUMENT360: fixtureForDocument360,
  GITBOOK: fixtureForGitBook,
  GITHUB: fixtureForGitHub,
  GURU: fixtureForGuru,
  NOTION: fixtureForNotion,
  ONEDRIVE: fixtureForOneDrive,
  OUTLOOK: fixtureForOutlook,
  SHAREPOINT: fixtureForSharePoint,
  GMAIL: fixtureForGmail,
  GOOGLE_CLOUD_STORAGE: fixtureForGoogleCloudStorage,
  GOOGLE_DRIVE: fixtureForGoogleDrive,
  S3: async () => fixtureForS3(await startS3Source()),
  AZURE_BLOB_STORAGE: fixtureForAzure,
  BOX: fixtureForBox,
  DROPBOX: fixtureForDropbox,
  GONG: fixtureForGong,
  SLACK: fixtureForSlack,
  ZENDESK: fixtureForZendesk,
  INTERCOM: fixtureForIntercom,
  FRESHDESK: fixtureForFreshdesk,
  SERVICENOW: fixtureForServiceNow,
  SALESFORCE: fixtureForSalesforce,
  ZOTERO: fixtureForZotero,
};
