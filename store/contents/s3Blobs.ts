import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  NoSuchKey,
  NotFound,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';

import { StoreFailure } from '../../contract/storeFailures.js';
import { type Blobs, isDeletable, type S3Settings } from './blobs.js';

/** Size of an upload part in bytes. Two parts are in memory at a time; S3 allows ten thousand per upload. */
const PART_BYTES = 8 * 1024 * 1024;
const PARTS_AT_ONCE = 2;

/** Attempts per request if a time limit is set. The second attempt covers a store that has just restarted. */
const MAX_ATTEMPTS = 2;

const prefixOf = ({ organizationId, fileId }: { organizationId: number; fileId: number }): string =>
  `${organizationId}/${fileId}/`;

/**
 * Stores contents in a bucket of an S3-compatible store.
 * @param timeLimitMs milliseconds that one request may take without progress, retries included; null: the SDK's own
 * limits
 */
export function createS3Blobs(settings: S3Settings, timeLimitMs: number | null = null): Blobs {
  const Bucket = settings.bucket;
  const client = new S3Client({
    region: settings.region,
    ...(timeLimitMs === null
      ? {}
      : {
          maxAttempts: MAX_ATTEMPTS,
          requestHandler: { connectionTimeout: timeLimitMs / MAX_ATTEMPTS, socketTimeout: timeLimitMs / MAX_ATTEMPTS },
        }),
    ...(settings.endpoint === null ? {} : { endpoint: settings.endpoint, forcePathStyle: true }),
    ...(settings.credentials === null ? {} : { credentials: settings.credentials }),
  });
  // A file has a few generations, far fewer than the 1,000 names of one listing.
  const namesOf = async (file: { organizationId: number; fileId: number }): Promise<[string, string][]> => {
    const Prefix = prefixOf(file);
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket, Prefix }));
    return Contents.flatMap(({ Key }) => (Key === undefined ? [] : [[Key, Key.slice(Prefix.length)]]));
  };
  const read = async (Key: string): Promise<AsyncIterable<Uint8Array> | null> => {
    try {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
      return Body instanceof Readable ? Body : null;
    } catch (error) {
      if (error instanceof NoSuchKey) return null;
      throw error;
    }
  };
  return {
    async putStream(Key, parts) {
      const Body = Readable.from(parts, { objectMode: false });
      await new Upload({
        client,
        params: { Bucket, Key, Body },
        partSize: PART_BYTES,
        queueSize: PARTS_AT_ONCE,
      }).done();
    },
    stream: read,
    async open(key) {
      const content = await read(key);
      if (content === null) return null;
      const folder = await mkdtemp(path.join(tmpdir(), 'allotrope-content-'));
      const close = (): Promise<void> => rm(folder, { recursive: true, force: true });
      const file = path.join(folder, 'content');
      try {
        await pipeline(content, createWriteStream(file));
        return { path: file, close };
      } catch (error) {
        await close();
        throw error;
      }
    },
    async delete(Key) {
      // A process that crashed during an upload leaves parts, which a listing of objects does not contain.
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix: Key }));
      for (const { Key: name, UploadId } of Uploads)
        if (name === Key) await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
      await client.send(new DeleteObjectCommand({ Bucket, Key }));
    },
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
      const Objects = names.flatMap(([Key, name]) => (isDeletable(name, scope) ? [{ Key }] : []));
      if (Objects.length === 0) return;
      // The response has status 200 even if objects were not deleted.
      const { Errors = [] } = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
      const [refused] = Errors;
      if (refused)
        throw new StoreFailure(
          'File storage',
          'failed',
          new Error(`${refused.Key} was not deleted: ${refused.Code} ${refused.Message ?? ''}`),
        );
    },
    async keysOf(file) {
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix: prefixOf(file) }));
      const keys = [...(await namesOf(file)).map(([Key]) => Key), ...Uploads.flatMap(({ Key }) => Key ?? [])];
      return [...new Set(keys)];
    },
    countOf: async (file) => (await namesOf(file)).length,
    async *keys(organizationId) {
      const Prefix = organizationId === null ? '' : `${organizationId}/`;
      for (let ContinuationToken: string | undefined; ;) {
        const page: ListObjectsV2CommandOutput = await client.send(
          new ListObjectsV2Command({ Bucket, Prefix, ...(ContinuationToken && { ContinuationToken }) }),
        );
        for (const { Key } of page.Contents ?? []) if (Key !== undefined) yield Key;
        ContinuationToken = page.NextContinuationToken;
        if (ContinuationToken === undefined) return;
      }
    },
    async size(Key) {
      try {
        return (await client.send(new HeadObjectCommand({ Bucket, Key }))).ContentLength ?? 0;
      } catch (error) {
        if (error instanceof NotFound) return null;
        throw error;
      }
    },
  };
}
