import type { ConnectedSourceType } from '../../../contract/sources.js';
import { startS3Source } from '../../emulators/s3Source.js';
import { standForGitBook } from './gitbook.js';
import { standForGitHub } from './github.js';
import { standForS3 } from './s3.js';
import type { SourceStand } from './stand.js';

/** Those of the catalogue suite; Google's join them once consent can be walked. */
export type StandSource = Exclude<ConnectedSourceType, 'GOOGLE_DRIVE' | 'GMAIL' | 'GOOGLE_CLOUD_STORAGE'>;

/** The stand of every one of them on one line. */
export const SOURCE_STANDS: Readonly<Record<StandSource, () => Promise<SourceStand>>> = {
  GITBOOK: standForGitBook,
  GITHUB: standForGitHub,
  S3: async () => standForS3(await startS3Source()),
};
