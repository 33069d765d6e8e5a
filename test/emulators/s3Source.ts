/**
 * Emulates S3 on loopback as a source, by its published API: path style, paged ListBuckets and ListObjectsV2,
 * GetObject. It verifies each signature against the request as received. Each bucket has a region. A page whose keys
 * are all deleted is empty, but other pages may follow it.
 */
import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { type Emulator, type Refused, startEmulator } from './emulator.js';

export const ACCESS_KEY = 'AKIALIGHTHOUSE';
export const ACCESS_KEY_SECRET = 's3-secret-of-the-lighthouse';

export interface EmulatedObject {
  content: string | Buffer;
  readonly type?: string;
  /** Deleted in a bucket with versions: the key counts towards the page size, but the page does not contain it. */
  readonly isDeleted?: true;
  /** Why downloads are refused: the object is archived, or encrypted with a key that only its owner has. */
  readonly refusal?: 'archived' | 'customer key';
}

type S3Refused = Refused & { readonly code: string };

/** The function given to `injectFault` receives the decoded path, without the leading slash. */
export interface S3SourceEmulator extends Emulator<S3Refused> {
  /** The value of SOURCE_URLS. */
  readonly settings: string;
  /** Objects by bucket and key; tests may change them at any time. */
  readonly buckets: Map<string, Map<string, EmulatedObject>>;
  /** Regions of buckets outside us-east-1. */
  readonly regions: Map<string, string>;
  /** Secrets by access key. */
  readonly keys: Map<string, string>;
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const escapedXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const NAMESPACE = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';

interface RefusalFields {
  readonly headers?: Readonly<Record<string, string>>;
  readonly message?: string;
  /** Further XML elements of the error. */
  readonly elements?: string;
}
function refuse(
  response: ServerResponse,
  status: number,
  code: string,
  { headers = {}, message = 'no', elements: more = '' }: RefusalFields = {},
): void {
  response
    .writeHead(status, { 'content-type': 'application/xml', ...headers })
    .end(
      `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message>${more}<RequestId>4442587FB7D0A2F9</RequestId></Error>`,
    );
}

/** Refuses the content of an object. https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html */
function refuseContent(response: ServerResponse, why: 'archived' | 'customer key'): void {
  if (why === 'archived')
    return refuse(response, 403, 'InvalidObjectState', {
      message: 'The operation is not valid for the object&apos;s storage class',
      elements: '<StorageClass>GLACIER</StorageClass>',
    });
  refuse(response, 400, 'InvalidRequest', {
    message:
      'The object was stored using a form of Server Side Encryption. The correct parameters must be provided to retrieve the object.',
  });
}

/** Returns the region that a request is signed for, or the error code of an invalid signature. */
function verifySignature({ method, url = '', headers }: IncomingMessage, keys: ReadonlyMap<string, string>) {
  const authorization = /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=(\w+)$/.exec(
    headers.authorization ?? '',
  );
  if (!authorization) return { refused: 'AccessDenied' };
  const [, credential = '', signed = '', signature] = authorization;
  const [key = '', date = '', region = '', service = ''] = credential.split('/');
  const secret = keys.get(key);
  if (secret === undefined) return { refused: 'InvalidAccessKeyId' };
  const [path = '', query = ''] = url.split('?');
  const canonical = [
    method,
    path,
    query.split('&').toSorted().join('&'),
    ...signed.split(';').map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    signed,
    headers['x-amz-content-sha256'],
  ].join('\n');
  const scope = `${date}/${region}/${service}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const signing = [region, service, 'aws4_request'].reduce<Buffer>(hmac, hmac(`AWS4${secret}`, date));
  return hmac(signing, text).toString('hex') === signature ? { region } : { refused: 'SignatureDoesNotMatch' };
}

const etagOf = ({ content }: EmulatedObject): string => `"${createHash('md5').update(content).digest('hex')}"`;

/** @param keysPerPage maximum page size, even if a request asks for more */
export async function startS3Source({ bucketsPerPage = 2, keysPerPage = 10 } = {}): Promise<S3SourceEmulator> {
  const buckets = new Map<string, Map<string, EmulatedObject>>();
  const regions = new Map<string, string>();
  const keys = new Map([[ACCESS_KEY, ACCESS_KEY_SECRET]]);

  const listBuckets = (query: URLSearchParams, response: ServerResponse): void => {
    const from = Number(query.get('continuation-token') ?? 0);
    const all = [...buckets.keys()];
    const most = Math.min(bucketsPerPage, Number(query.get('max-buckets') ?? bucketsPerPage));
    const rows = all
      .slice(from, from + most)
      .map((name) => `<Bucket><Name>${name}</Name><CreationDate>2026-03-03T10:00:00.000Z</CreationDate></Bucket>`);
    const next = from + most < all.length ? `<ContinuationToken>${from + most}</ContinuationToken>` : '';
    response.end(
      `<ListAllMyBucketsResult ${NAMESPACE}><Owner><ID>o</ID></Owner><Buckets>${rows.join('')}</Buckets>${next}</ListAllMyBucketsResult>`,
    );
  };
  const listObjects = (
    [bucket, objects]: readonly [string, ReadonlyMap<string, EmulatedObject>],
    query: URLSearchParams,
    response: ServerResponse,
  ): void => {
    const prefix = query.get('prefix') ?? '';
    const token = query.get('continuation-token');
    // The token is the last key of the previous page. The key may be deleted, so that no page contains it.
    const after = token === null ? (query.get('start-after') ?? '') : Buffer.from(token, 'base64').toString();
    const all = [...objects.keys()]
      .filter((key) => key.startsWith(prefix) && Buffer.compare(Buffer.from(key), Buffer.from(after)) > 0)
      .toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    const most = Math.min(keysPerPage, Number(query.get('max-keys') ?? keysPerPage));
    const read = all.slice(0, most);
    const page = read.filter((key) => objects.get(key)?.isDeleted !== true);
    const isEncoded = query.get('encoding-type') === 'url';
    const encodedKey = (key: string): string =>
      isEncoded ? encodeURIComponent(key).replaceAll('%2F', '/').replaceAll('%20', '+') : escapedXml(key);
    const rows = page.map((key) => {
      const object = objects.get(key)!;
      const storageClass = object.refusal === 'archived' ? 'GLACIER' : 'STANDARD';
      return `<Contents><Key>${encodedKey(key)}</Key><LastModified>2026-03-04T10:00:00.000Z</LastModified><ETag>${escapedXml(etagOf(object))}</ETag><Size>${Buffer.byteLength(object.content)}</Size><StorageClass>${storageClass}</StorageClass></Contents>`;
    });
    const isTruncated = read.length < all.length;
    const place = [
      `<Name>${bucket}</Name><Prefix>${encodedKey(prefix)}</Prefix>`,
      token === null ? '' : `<ContinuationToken>${token}</ContinuationToken>`,
      query.has('start-after') ? `<StartAfter>${encodedKey(query.get('start-after') ?? '')}</StartAfter>` : '',
      isTruncated
        ? `<NextContinuationToken>${Buffer.from(read.at(-1) ?? '').toString('base64')}</NextContinuationToken>`
        : '',
      `<KeyCount>${page.length}</KeyCount><MaxKeys>${most}</MaxKeys>`,
      isEncoded ? '<EncodingType>url</EncodingType>' : '',
      `<IsTruncated>${isTruncated}</IsTruncated>`,
    ];
    response.end(`<ListBucketResult ${NAMESPACE}>${place.join('')}${rows.join('')}</ListBucketResult>`);
  };

  const emulator = await startEmulator<S3Refused>({
    admit({ request, response }) {
      const { refused } = verifySignature(request, keys);
      if (refused !== undefined) refuse(response, 403, refused);
      return refused === undefined;
    },
    faultTargetOf: ({ path }) => path.join('/'),
    refuse: (response, { status, code, headers = {} }) => refuse(response, status, code, { headers }),
    answer({ request, response, path: [bucket = '', ...rest], query }) {
      response.setHeader('content-type', 'application/xml');
      if (bucket === '') return listBuckets(query, response);
      const objects = buckets.get(bucket);
      if (!objects) return refuse(response, 404, 'NoSuchBucket');
      const region = regions.get(bucket) ?? 'us-east-1';
      if (verifySignature(request, keys).region !== region)
        return refuse(response, 301, 'PermanentRedirect', { headers: { 'x-amz-bucket-region': region } });
      const key = rest.join('/');
      if (key === '') return listObjects([bucket, objects], query, response);
      const object = objects.get(key);
      if (object?.refusal !== undefined) return refuseContent(response, object.refusal);
      if (!object || object.isDeleted) return refuse(response, 404, 'NoSuchKey');
      const content = Buffer.from(object.content);
      const type = object.type ?? 'binary/octet-stream';
      response
        .writeHead(200, { 'content-type': type, 'content-length': content.length, etag: etagOf(object) })
        .end(content);
    },
  });
  return { ...emulator, settings: `S3.api=${emulator.origin}`, buckets, regions, keys };
}
