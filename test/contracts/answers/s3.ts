/**
 * Answers of S3, from its published model, which marks no member as required. Required here are the members that the
 * API reference shows in each answer.
 */
import { each, flag, integer, listOf, timestamp, object, oneOf, type Shape, text } from './shape.js';
import type { AnswerTable } from './table.js';

const NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/';
const document = (name: string, fields: Readonly<Record<string, Shape>>, required: readonly string[]): Shape =>
  object({ [name]: object({ '@xmlns': oneOf(NAMESPACE), ...fields }, ['@xmlns', ...required]) }, [name]);

const owner = object(each(text, 'ID', 'DisplayName'), ['ID']);
const bucket = object({ ...each(text, 'Name', 'BucketRegion', 'BucketArn'), CreationDate: timestamp }, [
  ...['Name', 'CreationDate'],
]);
const storageClass = oneOf(
  ...['STANDARD', 'REDUCED_REDUNDANCY', 'GLACIER', 'STANDARD_IA', 'ONEZONE_IA', 'INTELLIGENT_TIERING', 'DEEP_ARCHIVE'],
  ...['OUTPOSTS', 'GLACIER_IR', 'SNOW', 'EXPRESS_ONEZONE', 'FSX_OPENZFS', 'FSX_ONTAP', 'AWS_BACKUP_WARM'],
  'AWS_BACKUP_LOW_COST_WARM',
);
const contents = object(
  {
    ...{ Key: text, LastModified: timestamp, ETag: { ...text, pattern: /^"[^"]+"$/ }, Size: integer },
    ...{ StorageClass: storageClass, Owner: owner, ChecksumType: oneOf('COMPOSITE', 'FULL_OBJECT') },
    ChecksumAlgorithm: listOf(
      oneOf(...['CRC32', 'CRC32C', 'SHA1', 'SHA256', 'CRC64NVME', 'MD5', 'SHA512', 'XXHASH64', 'XXHASH3', 'XXHASH128']),
    ),
    RestoreStatus: object({ IsRestoreInProgress: flag, RestoreExpiryDate: timestamp }),
  },
  ['Key', 'LastModified', 'ETag', 'Size', 'StorageClass'],
);

export const s3: AnswerTable = {
  name: 's3',
  specification: 'https://github.com/boto/botocore/blob/1.44.8/botocore/data/s3/2006-03-01/service-2.json',
  version: '2006-03-01, botocore 1.44.8',
  takenOn: '2026-11-27',
  isXml: true,
  // https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html: some codes have more elements.
  refusal: object(
    {
      Error: {
        ...object(each(text, 'Code', 'Message', 'Resource', 'RequestId', 'HostId'), ['Code', 'Message', 'RequestId']),
        others: text,
      },
    },
    ['Error'],
  ),
  operations: {
    'GET /': document(
      'ListAllMyBucketsResult',
      { Owner: owner, Buckets: object({ Bucket: listOf(bucket) }), ...each(text, 'ContinuationToken', 'Prefix') },
      ['Buckets'],
    ),
    'GET /{Bucket}/': document(
      'ListBucketResult',
      {
        ...{ IsTruncated: flag, Contents: listOf(contents), ...each(integer, 'MaxKeys', 'KeyCount') },
        ...each(text, 'Name', 'Prefix', 'Delimiter', 'ContinuationToken', 'NextContinuationToken', 'StartAfter'),
        ...{ CommonPrefixes: listOf(object({ Prefix: text })), EncodingType: oneOf('url') },
      },
      ['Name', 'Prefix', 'KeyCount', 'MaxKeys', 'IsTruncated'],
    ),
  },
};
