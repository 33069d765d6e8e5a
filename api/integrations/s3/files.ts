import { idOf, idOfPrefix } from '../../../contract/objectIds.js';
import { syncObjects } from '../syncObjects.js';

/** POST /integrations/s3/files: creates files from objects, prefixes, or whole buckets. */
export const syncS3Files = syncObjects({
  path: '/integrations/s3/files',
  operationId: 's3_files_integrations_s3_files_post',
  tag: 'Integrations',
  summary: 'Syncs objects, prefixes or buckets of a connected S3.',
  description: [],
  requestName: 'S3FileSyncInput',
  selectionName: 'S3GetFileInput',
  type: 'S3',
  fields: ['id', 'bucket', 'prefix'],
  wanted: 'Name a bucket, or an item by its id alone',
  externalIdOf({ id = '', bucket = '', prefix = '' }) {
    if (bucket !== '') return id === '' ? idOfPrefix(bucket, prefix) : idOf(bucket, id);
    return id !== '' && prefix === '' ? id : null;
  },
});
