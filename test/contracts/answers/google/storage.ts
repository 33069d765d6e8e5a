import { counts, discovered, kindOf, long, refusal, statusRefusal } from './api.js';
import { anyObject, each, flag, listOf, timestamp, object, oneOf, type Shape, text } from '../shape.js';
import type { AnswerTable } from '../table.js';

const metadata: Shape = { type: 'object', others: text };
const storageObject = object(
  {
    kind: kindOf('storage#object'),
    ...each(text, 'bucket', 'cacheControl', 'contentDisposition', 'contentEncoding', 'contentLanguage', 'contentType'),
    ...each(text, 'crc32c', 'etag', 'id', 'kmsKeyName', 'md5Hash', 'mediaLink', 'name', 'restoreToken', 'selfLink'),
    storageClass: text,
    ...each(timestamp, 'customTime', 'hardDeleteTime', 'retentionExpirationTime', 'softDeleteTime', 'timeCreated'),
    ...each(timestamp, 'timeDeleted', 'timeFinalized', 'timeStorageClassUpdated', 'updated'),
    ...each(flag, 'eventBasedHold', 'temporaryHold'),
    ...each(anyObject, 'contexts', 'customerEncryption', 'owner', 'retention'),
    ...each(long, 'generation', 'metageneration', 'size'),
    ...counts('componentCount'),
    acl: listOf(anyObject),
    metadata,
  },
  // Cloud Storage sets these when it stores an object: https://cloud.google.com/storage/docs/json_api/v1/objects.
  ['kind', 'id', 'name', 'bucket', 'generation', 'metageneration', 'size', 'etag', 'timeCreated', 'updated'],
);
const bucket = object(
  {
    kind: kindOf('storage#bucket'),
    ...each(text, 'etag', 'id', 'location', 'locationType', 'name', 'rpo', 'selfLink', 'storageClass'),
    ...each(timestamp, 'hardDeleteTime', 'softDeleteTime', 'timeCreated', 'updated'),
    ...each(flag, 'defaultEventBasedHold', 'satisfiesPZI', 'satisfiesPZS'),
    ...each(long, 'generation', 'metageneration', 'projectNumber'),
    ...each(anyObject, 'autoclass', 'billing', 'customPlacementConfig', 'encryption', 'hierarchicalNamespace'),
    ...each(anyObject, 'iamConfiguration', 'ipFilter', 'lifecycle', 'logging', 'objectRetention', 'owner'),
    ...each(anyObject, 'retentionPolicy', 'softDeletePolicy', 'versioning', 'website'),
    ...each(listOf(anyObject), 'acl', 'cors', 'defaultObjectAcl'),
    labels: metadata,
  },
  ['kind', 'id', 'name', 'location', 'storageClass', 'metageneration', 'etag', 'timeCreated', 'updated'],
);
/** Returns the shape of a page. An empty list is missing; `kind` is always present. */
const pageOf = (kind: string, items: Shape, others: string): Shape =>
  object({ kind: kindOf(kind), items: listOf(items), nextPageToken: text, [others]: listOf(text) }, ['kind']);
const isMedia = ({ searchParams }: URL): boolean => searchParams.get('alt') === 'media';

export const googleCloudStorage: AnswerTable = {
  ...discovered('storage/v1', '20261009'),
  name: 'googleCloudStorage',
  // https://cloud.google.com/storage/docs/json_api/v1/status-codes: refusals of downloads are text.
  refusal: (url) => (isMedia(url) ? null : refusal),
  operations: {
    'GET /b': pageOf('storage#buckets', bucket, 'unreachable'),
    'GET /b/{bucket}': bucket,
    'GET /b/{bucket}/o': pageOf('storage#objects', storageObject, 'prefixes'),
    'GET /b/{bucket}/o/{object}': (url) => (isMedia(url) ? null : storageObject),
  },
};

const project = object(
  {
    ...each(text, 'name', 'projectId'),
    projectNumber: long,
    createTime: timestamp,
    lifecycleState: oneOf('LIFECYCLE_STATE_UNSPECIFIED', 'ACTIVE', 'DELETE_REQUESTED', 'DELETE_IN_PROGRESS'),
    managementType: oneOf('MANAGEMENT_TYPE_UNSPECIFIED', 'SELF_MANAGED', 'HUB'),
    isManagementProject: flag,
    configuredCapabilities: listOf(text),
    ...each(metadata, 'labels', 'tags'),
    parent: object(each(text, 'id', 'type')),
  },
  ['projectId', 'projectNumber', 'lifecycleState', 'createTime'],
);

export const googleProjects: AnswerTable = {
  ...discovered('cloudresourcemanager/v1', '20261107'),
  name: 'googleProjects',
  refusal: statusRefusal,
  operations: {
    // The list is missing if it is empty.
    'GET /projects': object({ projects: listOf(project), nextPageToken: text }),
  },
};
