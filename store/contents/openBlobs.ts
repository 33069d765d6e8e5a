import { type Blobs, createFolderBlobs, type S3Settings } from './blobs.js';

export interface FileStorageSettings {
  readonly dir: string;
  /** The bucket that takes the folder's place. */
  readonly s3: S3Settings | null;
}

/** File storage as it is set. The bucket's library is large: it is loaded only where a bucket is set. */
export async function openBlobs({ dir, s3 }: FileStorageSettings): Promise<Blobs> {
  if (s3 === null) return createFolderBlobs(dir);
  const { createS3Blobs } = await import('./s3Blobs.js');
  return createS3Blobs(s3);
}
