import type { ConnectedSourceType } from './connectedSources.js';

/**
 * Terms of a source's API that recordings of its requests and responses (cli/recording/) contain unchanged, in addition
 * to the words in the code of its connector. Almost all other words are replaced by pseudonyms.
 * They must be terms that the provider publishes, never values of an account.
 */
export interface RecordedTerms {
  /** Field names and values that the code does not contain as words: a library or a regular expression reads them. */
  readonly words?: readonly string[];
  /** The prefix of ids that is the same in all accounts, such as the type of a record. */
  readonly idPrefix?: RegExp;
  /**
   * Hosts of accounts at the provider, in addition to those of the source's row in CONNECTED_SOURCES. A recording
   * contains a pseudonym instead of the part that a placeholder (`{name}`) matches.
   */
  readonly hosts?: readonly string[];
  /** Fields that contain base64 of content. */
  readonly base64?: readonly string[];
}

/**
 * Parameters of the links to the next page, which the connectors pass on.
 * https://learn.microsoft.com/graph/query-parameters https://learn.microsoft.com/graph/delta-query-overview
 */
const ODATA = ['$skip', '$skiptoken', '$deltatoken'] as const;

export const RECORDED_TERMS: Partial<Readonly<Record<ConnectedSourceType, RecordedTerms>>> = {
  // https://developer.salesforce.com/docs/atlas.en-us.object_reference.meta/object_reference/sforce_api_field_types_id.htm
  SALESFORCE: {
    hosts: ['{name}.my.salesforce.com', '{name}.salesforce.com', '{name}.force.com'],
    idPrefix: /^[0-9a-zA-Z]{3}(?=[0-9A-Za-z]{12}(?:[0-9A-Za-z]{3})?$)/,
  },
  CONFLUENCE: { hosts: ['{site}.atlassian.net'] },
  ONEDRIVE: { words: ODATA },
  OUTLOOK: { words: ODATA },
  SHAREPOINT: { words: ODATA, hosts: ['{tenant}.sharepoint.com'] },
  // Queries join a field, an operator and a value to one word: `table_sys_idIN46d4…`.
  SERVICENOW: {
    words: ['published', 'nameINincident', 'NQsuper_class', 'nameSTARTSWITHu_', 'nameSTARTSWITHx_'],
    idPrefix: /^(?:id)?IN(?=[0-9a-f]{32}$)/,
  },
  // The first letter is the type of an object: https://docs.slack.dev/tools/deno-slack-sdk/reference/slack-types
  SLACK: { idPrefix: /^[BCDEFGTUW](?=[0-9A-Z]{2,}$)/ },
  DROPBOX: { words: ['id:'] },
  GMAIL: { base64: ['raw'] },
  GITHUB: { base64: ['content'] },
  // The parameter of links to the next page: https://developer.getguru.com/docs/paging
  GURU: { words: ['token'] },
  // Fields of Amazon's API that its SDK reads: https://docs.aws.amazon.com/AmazonS3/latest/API/
  S3: {
    words: [
      ...['ListAllMyBucketsResult', 'Owner', 'ID', 'DisplayName', 'Buckets', 'Bucket', 'Name', 'CreationDate'],
      ...['BucketRegion', 'ContinuationToken', 'ListBucketResult', 'Prefix', 'KeyCount', 'MaxKeys', 'Delimiter'],
      ...['IsTruncated', 'NextContinuationToken', 'StartAfter', 'EncodingType', 'Contents', 'Key', 'LastModified'],
      ...['ETag', 'ChecksumAlgorithm', 'ChecksumType', 'Size', 'StorageClass', 'CommonPrefixes', 'STANDARD', 'url'],
      ...['Error', 'Code', 'Message', 'RequestId', 'HostId', 'Region', 'Endpoint', 'content-length', 'last-modified'],
      ...['list-type', 'etag', 'x-id', 'ListBuckets', 'ListObjectsV2', 'GetObject', 'HeadBucket', 'continuation-token'],
    ],
  },
};
