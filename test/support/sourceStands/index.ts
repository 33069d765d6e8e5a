import type { ConnectedSourceType } from '../../../contract/sources.js';
import { startS3Source } from '../../emulators/s3Source.js';
import { standForGitBook } from './gitbook.js';
import { standForGitHub } from './github.js';
import { standForOneDrive, standForOutlook, standForSharePoint } from './microsoft.js';
import { standForS3 } from './s3.js';
import type { SourceStand } from './stand.js';

/** Those of the catalogue suite; Google Drive joins them once consent can be walked. */
export type StandSource = Exclude<ConnectedSourceType, 'GOOGLE_DRIVE'>;

/** The stand of every one of them on one line. */
export const SOURCE_STANDS: Readonly<Record<StandSource, () => Promise<SourceStand>>> = {
  GITBOOK: standForGitBook,
  GITHUB: standForGitHub,
  ONEDRIVE: standForOneDrive,
  OUTLOOK: standForOutlook,
  SHAREPOINT: standForSharePoint,
  S3: async () => standForS3(await startS3Source()),
};
