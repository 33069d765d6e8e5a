import {
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  NoSuchKey,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';

import { type Blobs, doomed, type S3Settings } from './blobs.js';

/** Contents in a bucket of an S3-compatible store. */
export function createS3Blobs(settings: S3Settings): Blobs {
  const Bucket = settings.bucket;
  const client = new S3Client({
    region: settings.region,
    ...(settings.endpoint === null ? {} : { endpoint: settings.endpoint, forcePathStyle: true }),
    ...(settings.credentials === null ? {} : { credentials: settings.credentials }),
  });
  // A file has a few generations, far fewer than the 1,000 names of one listing.
  const namesOf = async (file: { organizationId: number; fileId: number }): Promise<[string, string][]> => {
    const Prefix = `${file.organizationId}/${file.fileId}/`;
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket, Prefix }));
    return Contents.flatMap(({ Key }) => (Key === undefined ? [] : [[Key, Key.slice(Prefix.length)]]));
  };
  return {
    async put(key, bytes) {
      await client.send(new PutObjectCommand({ Bucket, Key: key, Body: bytes }));
    },
    async get(key) {
      try {
        const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: key }));
        return Body ? await Body.transformToByteArray() : null;
      } catch (error) {
        if (error instanceof NoSuchKey) return null;
        throw error;
      }
    },
    async deleteGenerations(scope) {
      const names = await namesOf(scope);
      const Objects = names.flatMap(([Key, name]) => (doomed(name, scope) ? [{ Key }] : []));
      if (Objects.length > 0) await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    },
    countOf: async (file) => (await namesOf(file)).length,
  };
}
