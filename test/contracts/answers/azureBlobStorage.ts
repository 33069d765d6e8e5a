/**
 * Answers of Azure Blob Storage, from the client that Microsoft generates from its specification. The specification
 * requires Deleted and Snapshot for each blob. They are optional here: Azure sends them only if a request includes
 * deleted blobs or snapshots.
 */
import { anyObject, each, eitherOf, flag, integer, listOf, object, oneOf, type Shape, text } from './shape.js';
import type { AnswerTable } from './table.js';

/** A date of RFC 1123. */
const date: Shape = { type: 'string', pattern: /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/ };
const lease = {
  LeaseStatus: oneOf('locked', 'unlocked'),
  LeaseState: oneOf('available', 'leased', 'expired', 'breaking', 'broken'),
  LeaseDuration: oneOf('infinite', 'fixed'),
};
const containerProperties = object(
  {
    ...{ 'Last-Modified': date, Etag: text, ...lease, PublicAccess: oneOf('container', 'blob') },
    ...each(flag, 'HasImmutabilityPolicy', 'HasLegalHold', 'DenyEncryptionScopeOverride'),
    ...{ ImmutableStorageWithVersioningEnabled: flag, DefaultEncryptionScope: text },
    ...{ DeletedTime: date, RemainingRetentionDays: integer },
  },
  ['Last-Modified', 'Etag'],
);
const container = object(
  { Name: text, Deleted: flag, Version: text, Properties: containerProperties, Metadata: anyObject },
  ['Name', 'Properties'],
);

const properties = object(
  {
    ...each(date, 'Creation-Time', 'Last-Modified', 'CopyCompletionTime', 'DeletedTime', 'AccessTierChangeTime'),
    ...each(date, 'Expiry-Time', 'LastAccessTime', 'ImmutabilityPolicyUntilDate'),
    ...each(text, 'Etag', 'Content-Type', 'Content-Encoding', 'Content-Language', 'Content-MD5', 'Content-CRC64'),
    ...each(text, 'Content-Disposition', 'Cache-Control', 'CopyId', 'CopySource', 'CopyProgress'),
    ...each(text, 'CopyStatusDescription', 'DestinationSnapshot', 'CustomerProvidedKeySha256', 'EncryptionScope'),
    ...each(integer, 'Content-Length', 'x-ms-blob-sequence-number', 'RemainingRetentionDays', 'TagCount'),
    ...each(flag, 'ServerEncrypted', 'IncrementalCopy', 'AccessTierInferred', 'Sealed', 'LegalHold'),
    ...{ BlobType: oneOf('BlockBlob', 'PageBlob', 'AppendBlob'), ...lease },
    CopyStatus: oneOf('pending', 'success', 'aborted', 'failed'),
    AccessTier: oneOf(
      ...['P4', 'P6', 'P10', 'P15', 'P20', 'P30', 'P40', 'P50', 'P60', 'P70', 'P80', 'Hot', 'Cool', 'Archive', 'Cold'],
    ),
    ArchiveStatus: oneOf(...['rehydrate-pending-to-hot', 'rehydrate-pending-to-cool', 'rehydrate-pending-to-cold']),
    RehydratePriority: oneOf('High', 'Standard'),
    ImmutabilityPolicyMode: oneOf('Mutable', 'Unlocked', 'Locked'),
    // Accounts with a hierarchical namespace: https://learn.microsoft.com/rest/api/storageservices/list-blobs
    ResourceType: oneOf('file', 'directory'),
    ...each(text, 'Owner', 'Group', 'Permissions', 'Acl', 'Placeholder'),
  },
  ['Last-Modified', 'Etag'],
);
/** A name with characters that XML cannot contain is percent-encoded. */
const encodedName = object({ '@Encoded': flag, '#text': text }, ['@Encoded', '#text']);
const blob = object(
  {
    ...{ Name: eitherOf(text, encodedName), Deleted: flag, Snapshot: text, VersionId: text, IsCurrentVersion: flag },
    ...{ Properties: properties, HasVersionsOnly: flag, Tags: anyObject },
    // An element without children is read as an empty text, not as an object.
    ...each(eitherOf(text, anyObject), 'Metadata', 'OrMetadata'),
  },
  ['Name', 'Properties'],
);

const enumerationResults = (fields: Readonly<Record<string, Shape>>, required: readonly string[]): Shape =>
  object(
    {
      EnumerationResults: object(
        { '@ServiceEndpoint': text, ...each(text, 'Prefix', 'Marker', 'NextMarker'), MaxResults: integer, ...fields },
        ['@ServiceEndpoint', 'NextMarker', ...required],
      ),
    },
    ['EnumerationResults'],
  );

export const azureBlobStorage: AnswerTable = {
  name: 'azureBlobStorage',
  specification: 'https://www.npmjs.com/package/@azure/storage-blob',
  version: '12.32.0, 2026-04-06',
  takenOn: '2026-11-27',
  isXml: true,
  refusal: object(
    {
      // https://learn.microsoft.com/rest/api/storageservices/status-and-error-codes2: some codes have more elements.
      Error: {
        ...object(each(text, 'Code', 'Message', 'AuthenticationErrorDetail'), ['Code', 'Message']),
        others: text,
      },
    },
    ['Error'],
  ),
  operations: {
    'GET /': enumerationResults({ Containers: object({ Container: listOf(container) }) }, ['Containers']),
    'GET /{containerName}': enumerationResults(
      { '@ContainerName': text, Delimiter: text, Blobs: object({ Blob: listOf(blob) }) },
      ['@ContainerName', 'Blobs'],
    ),
  },
};
