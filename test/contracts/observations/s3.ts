import type { SourceObservations } from './observation.js';

const SUITE = 'test/connectors/s3.test.ts';

export const s3: SourceObservations = {
  source: 'S3',
  facts: [
    {
      about: 'paging',
      fact: 'A page without a single key may be followed by others: its keys were deleted in a bucket with versions.',
      ...{ seen: 'https://github.com/s3ql/s3ql/pull/170', date: '2020-05-22' },
      ours: { test: [SUITE, 'continues after a page without objects, and never takes one for the end'], fixed: true },
    },
    {
      about: 'paging',
      fact: 'AWS, Google and MinIO all gave truncated answers without keys; a client that took the last key of one failed.',
      ...{ seen: 'https://github.com/TileDB-Inc/TileDB/pull/1218', date: '2019-04-23' },
      ours: { test: [SUITE, 'continues after a page without objects, and never takes one for the end'], fixed: true },
    },
    {
      about: 'paging',
      fact: 'A continuation token becomes invalid if the store counts from the start and objects are deleted meanwhile.',
      ...{ seen: 'https://github.com/adobe/S3Mock/issues/112', date: '2018-10-29' },
      ours: { test: [SUITE, 'of a bucket contains each folder once, before its contents, across all pages'] },
    },
    {
      about: 'formats',
      fact: 'Archived objects are listed like others, and their content is refused with 403 InvalidObjectState.',
      ...{ seen: 'https://github.com/logstash-plugins/logstash-input-s3/pull/160', date: '2018-08-08' },
      ours: { test: [SUITE, 'whose content is refused (%s) is unsupported'], fixed: true },
    },
    {
      about: 'formats',
      fact: 'An object that was encrypted with a key of its owner is refused with 400 InvalidRequest, which many errors share.',
      ...{ seen: 'https://github.com/minio/minio/pull/4894', date: '2017-10-26' },
      ours: { test: [SUITE, 'whose content is refused (%s) is unsupported'], fixed: true },
    },
    {
      about: 'formats',
      fact: 'Consoles and gateways store objects of 0 bytes whose keys end with a slash, to show folders.',
      ...{ seen: 'https://github.com/mlflow/mlflow/pull/25137', date: '2026-08-15' },
      ours: { test: [SUITE, 'of a bucket contains each folder once, before its contents, across all pages'] },
    },
    {
      about: 'listing',
      fact: 'Keys with control characters make a listing invalid XML, unless the request asks for encoded keys.',
      ...{ seen: 'https://github.com/aws/aws-sdk-php/issues/169', date: '2013-10-20' },
      ours: { test: [SUITE, 'contains keys with any characters, which can all be read'] },
    },
    {
      about: 'listing',
      fact: 'Keys for a single bucket often lack the permission to list buckets, and a test of the connection fails.',
      ...{ seen: 'https://github.com/Budibase/budibase/issues/11688', date: '2023-09-06' },
      ours: { test: [SUITE, 'without permission to list buckets can still read named buckets'] },
    },
    {
      about: 'listing',
      fact: 'The redirect to the region of a bucket may name the region in a header only.',
      ...{ seen: 'https://github.com/aws/aws-sdk-java/issues/1151', date: '2017-05-06' },
      ours: { test: [SUITE, 'follows a bucket to its region and caches the region'] },
    },
    {
      about: 'listing',
      fact: 'The certificate of AWS does not fit a host name that begins with the name of a bucket with dots.',
      ...{ seen: 'https://github.com/s3fs-fuse/s3fs-fuse/issues/284', date: '2015-10-22' },
      ours: {
        test: [SUITE, 'of a bucket with dots in its name is requested in path style, because of the certificate'],
      },
    },
    {
      about: 'limits',
      fact: 'A request that is 15 minutes late is refused with 403 RequestTimeTooSkewed, and succeeds when it is repeated.',
      ...{ seen: 'https://github.com/peak/s5cmd/issues/205', date: '2020-08-06' },
      ours: { test: [SUITE, 'refused with %s, status %i, is %s'], fixed: true },
    },
    {
      about: 'formats',
      fact: 'Since version 3.729 the SDK sends and checks checksums by default, which compatible stores reject.',
      ...{ seen: 'https://github.com/aws/aws-sdk-js-v3/issues/6810', date: '2025-01-16' },
      ours: { safe: 'Both are set to WHEN_REQUIRED.', in: 'connectors/s3/sdk.ts' },
    },
  ],
};
