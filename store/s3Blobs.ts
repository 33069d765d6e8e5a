import type { Readable } from 'node:stream';
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
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
  const body = async (key: string) => {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: key }));
    if (!Body) throw new Error(`The stored content ${key} is empty`);
    return Body;
  };
  return {
    async put(key, bytes) {
      await client.send(new PutObjectCommand({ Bucket, Key: key, Body: bytes }));
    },
    get: async (key) => (await body(key)).transformToByteArray(),
    stream: async (key) => (await body(key)) as Readable,
    async deleteGenerations(scope) {
      const Prefix = `${scope.organizationId}/${scope.fileId}/`;
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket, Prefix }));
      const Objects = Contents.flatMap(({ Key }) =>
        Key !== undefined && doomed(Key.slice(Prefix.length), scope) ? [{ Key }] : [],
      );
      if (Objects.length > 0) await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    },
  };
}
