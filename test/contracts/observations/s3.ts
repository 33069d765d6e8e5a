import type { SourceObservations } from './observation.js';

const SUITE = 'test/connectors/s3.test.ts';

export const s3: SourceObservations = {
  source: 'S3',
  observations: [
    {
      aspect: 'paging',
      statement:
        'A page without a single key may be followed by others: its keys were deleted in a bucket with versions.',
      ...{ link: 'https://github.com/s3ql/s3ql/pull/170', date: '2020-05-22' },
      evidence: {
        test: [SUITE, 'continues after a page without objects, and never treats one as the end'],
        fixed: true,
      },
    },
    {
      aspect: 'paging',
      statement:
        'AWS, Google and MinIO all gave truncated answers without keys; a client that needed the last key of each answer failed.',
      ...{ link: 'https://github.com/TileDB-Inc/TileDB/pull/1218', date: '2019-04-23' },
      evidence: {
        test: [SUITE, 'continues after a page without objects, and never treats one as the end'],
        fixed: true,
      },
    },
    {
      aspect: 'paging',
      statement:
        'If a store keeps a position as a continuation token, the token becomes invalid when objects are deleted.',
      ...{ link: 'https://github.com/adobe/S3Mock/issues/112', date: '2018-10-29' },
      evidence: { test: [SUITE, 'of a bucket contains each folder once, before its contents, across all pages'] },
    },
    {
      aspect: 'formats',
      statement: 'Archived objects are listed like others, and their content is refused with 403 InvalidObjectState.',
      ...{ link: 'https://github.com/logstash-plugins/logstash-input-s3/pull/160', date: '2018-08-08' },
      evidence: { test: [SUITE, 'whose content is refused (%s) is unsupported'], fixed: true },
    },
    {
      aspect: 'formats',
      statement:
        'An object with a customer-provided key (SSE-C) is refused with 400 InvalidRequest, which many errors share.',
      ...{ link: 'https://github.com/minio/minio/pull/4894', date: '2017-10-26' },
      evidence: { test: [SUITE, 'whose content is refused (%s) is unsupported'], fixed: true },
    },
    {
      aspect: 'formats',
      statement: 'Consoles and gateways store objects of 0 bytes whose keys end with a slash, to show folders.',
      ...{ link: 'https://github.com/mlflow/mlflow/pull/25137', date: '2026-08-15' },
      evidence: { test: [SUITE, 'of a bucket contains each folder once, before its contents, across all pages'] },
    },
    {
      aspect: 'listing',
      statement: 'Keys with control characters make a listing invalid XML, unless the request asks for encoded keys.',
      ...{ link: 'https://github.com/aws/aws-sdk-php/issues/169', date: '2013-10-20' },
      evidence: {
        test: [SUITE, 'contains keys with any characters, which can be read unless no URL can express them'],
      },
    },
    {
      aspect: 'listing',
      statement:
        'Access keys for one bucket often may not list buckets, so a connection test that lists buckets fails.',
      ...{ link: 'https://github.com/Budibase/budibase/issues/11688', date: '2023-09-06' },
      evidence: { test: [SUITE, 'without permission to list buckets can still read named buckets'] },
    },
    {
      aspect: 'listing',
      statement: 'The redirect to the region of a bucket may name the region in a header only.',
      ...{ link: 'https://github.com/aws/aws-sdk-java/issues/1151', date: '2017-05-06' },
      evidence: { test: [SUITE, 'requests a bucket in its region and caches the region'] },
    },
    {
      aspect: 'listing',
      statement: 'The certificate of AWS does not fit a host name that begins with the name of a bucket with dots.',
      ...{ link: 'https://github.com/s3fs-fuse/s3fs-fuse/issues/284', date: '2015-10-22' },
      evidence: {
        test: [
          SUITE,
          'of a bucket with dots in its name is requested in path style: the wildcard certificate covers no dots',
        ],
      },
    },
    {
      aspect: 'limits',
      statement:
        'A request that is 15 minutes late is refused with 403 RequestTimeTooSkewed, and succeeds when it is repeated.',
      ...{ link: 'https://github.com/peak/s5cmd/issues/205', date: '2020-08-06' },
      evidence: { test: [SUITE, 'refused with %s, status %i, is %s'], fixed: true },
    },
    {
      aspect: 'formats',
      statement: 'Since version 3.729 the SDK sends and checks checksums by default, which compatible stores reject.',
      ...{ link: 'https://github.com/aws/aws-sdk-js-v3/issues/6810', date: '2025-01-16' },
      evidence: { reason: 'Both are set to WHEN_REQUIRED.', file: 'connectors/s3/sdk.ts' },
    },
  ],
};
