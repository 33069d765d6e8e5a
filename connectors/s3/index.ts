/** S3 and compatible object stores, read with an access key. https://docs.aws.amazon.com/AmazonS3/latest/API */

import type { ListObjectsV2CommandOutput } from '@aws-sdk/client-s3';

import { Fault } from '../../contract/failures.js';
import { parseItemId, type ObjectRef } from '../../contract/objectIds.js';
import type { Connector } from '../connector.js';
import type { AccountClient } from '../accountClient.js';
import type { ItemPage } from '../sourceItem.js';
import type { ListedObject } from '../objectTree.js';
import { contentOf, itemOfContainer, itemOfFolder, itemsOfObjects } from './adapter.js';
import { classify } from './refusals.js';
import { type S3Credentials, withS3 } from './sdk.js';
import { incompleteAnswer, noSuchItem } from '../faults.js';

/** Valid bucket names; other characters could change the request path. */
const BUCKET = /^[\w.-]{3,255}$/;
const BUCKETS_PER_PAGE = 1_000;

/** Maximum number of successive pages without an object. A page is empty if its objects were all deleted. */
const MAX_EMPTY_PAGES = 10_000;

/** Lists the objects whose keys begin with a prefix, in key order. */
async function list(
  client: AccountClient<S3Credentials>,
  { bucket, prefix, after, most }: { bucket: string; prefix: string; after: string | null; most?: number },
): Promise<{ objects: ListedObject[]; isWhole: boolean }> {
  const input = {
    Bucket: bucket,
    Prefix: prefix,
    // Keys may contain characters that XML cannot.
    EncodingType: 'url' as const,
    ...(most === undefined ? {} : { MaxKeys: most }),
  };
  // Stored cursors contain the last key, because S3's continuation tokens expire.
  let from: { StartAfter?: string; ContinuationToken?: string } = after === null ? {} : { StartAfter: after };
  for (let pages = 0; pages < MAX_EMPTY_PAGES; pages += 1) {
    const position = from;
    const answer = await withS3(client, { bucket }, (sdk, { ListObjectsV2Command }) =>
      sdk.send(new ListObjectsV2Command({ ...input, ...position })),
    );
    const { IsTruncated, NextContinuationToken: next } = answer;
    // https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html: each answer states whether it is the
    // last.
    if (IsTruncated === undefined) throw incompleteAnswer('S3', 'whether the list continues');
    const objects = objectsOf(answer);
    if (objects.length > 0 || !IsTruncated) return { objects, isWhole: !IsTruncated };
    // An empty page has no key to continue from: only its token leads to the next one.
    if (!next || next === position.ContinuationToken) throw incompleteAnswer('S3', 'where the list continues');
    from = { ContinuationToken: next };
  }
  throw incompleteAnswer('S3', 'any object of a long list');
}

function objectsOf({ Contents = [], EncodingType }: ListObjectsV2CommandOutput): ListedObject[] {
  const keyOf = (given: string): string =>
    EncodingType === 'url' ? decodeURIComponent(given.replaceAll('+', '%20')) : given;
  return Contents.flatMap(({ Key, LastModified, ETag }) =>
    Key === undefined ? [] : [{ key: keyOf(Key), createdAt: LastModified ?? null, etag: ETag ?? null }],
  );
}

/** Returns a page of a bucket, folder or prefix. */
async function listPage(
  client: AccountClient<S3Credentials>,
  { bucket, key, kind }: ObjectRef,
  cursor: string | null,
): Promise<ItemPage> {
  const { objects, isWhole } = await list(client, { bucket, prefix: key, after: cursor });
  if (cursor === null && objects.length === 0 && kind !== 'bucket') throw noSuchItem('S3');
  const below = kind === 'folder' ? key : '';
  const items = itemsOfObjects(bucket, objects, { after: cursor ?? '', below });
  const requestedItem =
    kind === 'bucket' ? [itemOfContainer(bucket, null)] : kind === 'folder' ? [itemOfFolder(bucket, key)] : [];
  return {
    items: cursor === null ? [...requestedItem, ...items] : items,
    next: isWhole ? null : (objects.at(-1)?.key ?? null),
  };
}

export const s3: Connector<S3Credentials> = {
  // The region of a bucket never changes.
  cache: { lifeMs: null },
  about: {
    listed: 'buckets, folders, objects',
    ingested: 'each object',
    unchangedBy: 'ETag',
    limits:
      'archived objects, and those encrypted with a customer-provided key (SSE-C), are not read; an access key without permission to list buckets can read buckets that the request names; a name with `.` or `..` between slashes cannot be requested',
  },
  // Every request has its own signature, so there are no common headers.
  headers: () => ({}),
  classify,

  async identify(client) {
    const { accessKey, endpointUrl } = client.credentials;
    try {
      const { Buckets, Owner } = await withS3(client, { bucket: null }, (sdk, { ListBucketsCommand }) =>
        sdk.send(new ListBucketsCommand({ MaxBuckets: 1 })),
      );
      if (!Buckets && !Owner)
        throw new Fault(
          'bad_response',
          'The server at this address does not answer like S3. Give the address of the store.',
        );
    } catch (error) {
      // The key may have access to some buckets without permission to list all.
      if (!(error instanceof Fault && error.kind === 'access_denied')) throw error;
    }
    const host = endpointUrl === null ? null : new URL(endpointUrl).host;
    return {
      account: host === null ? accessKey : `${accessKey}|${host}`,
      metadata: endpointUrl === null ? {} : { endpoint_url: endpointUrl },
    };
  },

  async listRoots(client, cursor) {
    const input = {
      MaxBuckets: BUCKETS_PER_PAGE,
      ...(cursor === null ? {} : { ContinuationToken: cursor }),
    };
    const { Buckets, ContinuationToken } = await withS3(client, { bucket: null }, (sdk, { ListBucketsCommand }) =>
      sdk.send(new ListBucketsCommand(input)),
    );
    if (!Buckets) throw incompleteAnswer('S3', 'the list of buckets');
    return {
      items: Buckets.flatMap(({ Name, CreationDate }) =>
        Name === undefined ? [] : [itemOfContainer(Name, CreationDate ?? null)],
      ),
      next: ContinuationToken ?? null,
    };
  },

  async listDescendants(client, externalId, cursor) {
    const itemRef = parseItemId(externalId);
    if (!BUCKET.test(itemRef.bucket)) throw noSuchItem('S3');
    if (itemRef.kind !== 'object') return listPage(client, itemRef, cursor);
    const { bucket, key } = itemRef;
    // The listing is sorted, so the first key with this prefix is the exact key, if it exists.
    const { objects } = await list(client, { bucket, prefix: key, after: null, most: 1 });
    if (objects[0]?.key !== key) throw noSuchItem('S3');
    const [item] = itemsOfObjects(bucket, objects, { after: key, below: '' });
    return { items: item ? [item] : [], next: null };
  },

  async open(client, externalId) {
    const { bucket, key, kind } = parseItemId(externalId);
    if (!BUCKET.test(bucket) || kind === 'prefix') throw noSuchItem('S3');
    if (kind !== 'object') {
      // A sync treats a bucket or folder as a file only if it could not be listed. If it still cannot be listed, this
      // call throws the cause, which becomes the error of the file.
      await listPage(client, { bucket, key, kind }, null);
      throw new Fault('unsupported_type', 'An S3 folder has no text of its own: sync the objects in it.');
    }
    return withS3(client, { bucket, isContent: true }, async (sdk, { GetObjectCommand }) => {
      const { Body, ContentType, ETag } = await sdk.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
      const bytes = (await Body?.transformToByteArray()) ?? new Uint8Array();
      return contentOf(bucket, key, { bytes, contentType: ContentType, etag: ETag?.replaceAll('"', '') });
    });
  },
};
