import { idOf } from '../../../contract/objectIds.js';
import { syncObjects } from '../syncObjects.js';

/** POST /integrations/azure_blob_storage/files: creates files from blobs, folders, or whole containers. */
export const syncAzureFiles = syncObjects({
  path: '/integrations/azure_blob_storage/files',
  operationId: 'azure_blob_files_integrations_azure_blob_storage_files_post',
  tag: 'Integrations',
  summary: 'Syncs blobs, folders or containers of a connected Azure Blob Storage.',
  description: [],
  requestName: 'AzureBlobFileSyncInput',
  selectionName: 'AzureBlobGetFileInput',
  type: 'AZURE_BLOB_STORAGE',
  fields: ['id', 'container'],
  wanted: 'Name a container, or an item by its id',
  externalIdOf({ id = '', container = '' }) {
    if (container !== '') return idOf(container, id);
    return id === '' ? null : id;
  },
});
