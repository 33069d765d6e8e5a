import { blobsWithStoreFailures } from './blobFailures.js';
import { type Blobs, createFolderBlobs, type S3Settings } from './blobs.js';

export interface FileStorageSettings {
  readonly dir: string;
  /** The bucket to use instead of the folder; null if the folder is used. */
  readonly s3: S3Settings | null;
}

/**
 * Opens the configured file storage. The S3 client library is large, so it is loaded only if a bucket is configured.
 * @param timeLimitMs milliseconds that one request to a bucket may take without progress, retries included; null: no
 * limit
 * @throws StoreFailure from every method but `keys` if the folder or the bucket fails
 */
export async function openBlobs({ dir, s3 }: FileStorageSettings, timeLimitMs: number | null = null): Promise<Blobs> {
  if (s3 === null) return blobsWithStoreFailures(createFolderBlobs(dir));
  const { createS3Blobs } = await import('./s3Blobs.js');
  return blobsWithStoreFailures(createS3Blobs(s3, timeLimitMs));
}
