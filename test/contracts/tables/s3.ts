import type { Contract, Rule } from '../contract.js';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html. The user supplies the access key. */
const signed: Readonly<Record<string, Rule>> = {
  authorization: {
    pattern: String.raw`^AWS4-HMAC-SHA256 Credential=.+/\d{8}/[a-z\d-]+/s3/aws4_request, ?SignedHeaders=[a-z\d;-]*\bhost\b[a-z\d;-]*, ?Signature=[\da-f]{64}$`,
    required: true,
  },
  'x-amz-date': { pattern: String.raw`^\d{8}T\d{6}Z$`, required: true },
  'x-amz-content-sha256': { pattern: String.raw`^(?:[\da-f]{64}|UNSIGNED-PAYLOAD)$`, required: true },
};
const payer: Rule = { enum: ['requester'] };

export const s3: Contract = {
  name: 's3',
  source: 'S3',
  specification: 'https://github.com/boto/botocore/blob/1.44.8/botocore/data/s3/2006-03-01/service-2.json',
  version: '2006-03-01, botocore 1.44.8',
  address: 'api',
  takenOn: '2026-11-27',
  // The SDK names each operation in the query.
  common: { 'x-id': { enum: ['ListBuckets', 'ListObjectsV2', 'GetObject'] } },
  operations: {
    'GET /': {
      query: {
        'max-buckets': { type: 'integer', min: 1, max: 10_000 },
        'continuation-token': { type: 'string' },
        prefix: { type: 'string' },
        'bucket-region': { type: 'string' },
      },
      headers: signed,
    },
    // The SDK ends the path with a slash, which a bucket's address in path style may have.
    'GET /{Bucket}/': {
      query: {
        'list-type': { enum: ['2'], required: true },
        delimiter: { type: 'string' },
        'encoding-type': { enum: ['url'] },
        // https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html: at most 1,000 keys are returned.
        'max-keys': { type: 'integer', min: 1, max: 1_000 },
        prefix: { type: 'string' },
        'continuation-token': { type: 'string' },
        'fetch-owner': { type: 'boolean' },
        'start-after': { type: 'string' },
      },
      headers: {
        ...signed,
        'x-amz-request-payer': payer,
        'x-amz-optional-object-attributes': { list: ['RestoreStatus'] },
      },
    },
    'GET /{Bucket}/{Key+}': {
      query: {
        'response-cache-control': { type: 'string' },
        'response-content-disposition': { type: 'string' },
        'response-content-encoding': { type: 'string' },
        'response-content-language': { type: 'string' },
        'response-content-type': { type: 'string' },
        'response-expires': { type: 'string' },
        versionId: { type: 'string' },
        partNumber: { type: 'integer', min: 1, max: 10_000 },
      },
      headers: { ...signed, 'x-amz-request-payer': payer, 'x-amz-checksum-mode': { enum: ['ENABLED'] } },
    },
  },
};
