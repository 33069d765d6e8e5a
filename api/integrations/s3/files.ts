import { idOf, idOfPrefix } from '../../../contract/objectIds.js';
import { AFTER_SELECTION, SELECTION_ACCEPTED } from '../syncSelection.js';
import { syncObjects } from '../syncObjects.js';

/** POST /integrations/s3/files: creates files from objects, prefixes, or whole buckets. */
export const syncS3Files = syncObjects({
  path: '/integrations/s3/files',
  operationId: 's3_files_integrations_s3_files_post',
  tag: 'Integrations',
  summary: 'Sync objects, prefixes or buckets of a connected S3 account',
  description: [
    `Creates files from objects, or from all objects of a prefix or bucket, or syncs them again. Buckets need not be listed before.

${AFTER_SELECTION}`,
  ],
  returns: SELECTION_ACCEPTED,
  requestName: 'S3FileSyncInput',
  selectionName: 'S3GetFileInput',
  type: 'S3',
  fields: {
    id: 'With `bucket`: key of an object. Alone: external id of a listed item, `<bucket>/<key>`. Absent, null or empty: the whole bucket, or its `prefix`.',
    bucket:
      'Name of a bucket. Without `id` and `prefix` all its objects are synced. Absent, null or empty: `id` names the item.',
    prefix:
      'Beginning of the keys of the objects in `bucket` that are synced. With `bucket` and `id` it is ignored; ' +
      'without `bucket` it returns 422. Absent, null or empty: all objects of the bucket.',
  },
  objects: 'objects, prefixes or buckets',
  wanted: 'Send `bucket`, or `id` alone',
  externalIdOf({ id = '', bucket = '', prefix = '' }) {
    if (bucket !== '') return id === '' ? idOfPrefix(bucket, prefix) : idOf(bucket, id);
    return id !== '' && prefix === '' ? id : null;
  },
});
