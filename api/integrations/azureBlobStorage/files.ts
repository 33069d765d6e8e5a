import { idOf } from '../../../contract/objectIds.js';
import { AFTER_SELECTION, SELECTION_ACCEPTED } from '../syncSelection.js';
import { syncObjects } from '../syncObjects.js';

/** POST /integrations/azure_blob_storage/files: creates files from blobs, folders, or whole containers. */
export const syncAzureFiles = syncObjects({
  path: '/integrations/azure_blob_storage/files',
  operationId: 'azure_blob_files_integrations_azure_blob_storage_files_post',
  tag: 'Integrations',
  summary: 'Sync blobs, folders or containers of a connected Azure Blob Storage account',
  description: [
    `Creates files from blobs, or from all blobs of a folder or container, or syncs them again. Containers need not be listed before.

${AFTER_SELECTION}`,
  ],
  returns: SELECTION_ACCEPTED,
  requestName: 'AzureBlobFileSyncInput',
  selectionName: 'AzureBlobGetFileInput',
  type: 'AZURE_BLOB_STORAGE',
  fields: {
    id:
      'With `container`: name of a blob, or of a folder with a slash at its end. Alone: external id of a listed ' +
      'item, `<container>/<blob>`. Absent, null or empty: the whole container.',
    container:
      'Name of a container. Without `id` all its blobs are synced. Absent, null or empty: `id` names the item.',
  },
  objects: 'blobs, folders or containers',
  wanted: 'Send `container`, or `id` alone',
  externalIdOf({ id = '', container = '' }) {
    if (container !== '') return idOf(container, id);
    return id === '' ? null : id;
  },
});
