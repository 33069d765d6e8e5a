import { idOf } from '../../../contract/objectIds.js';
import { syncObjects } from '../syncObjects.js';

/** POST /integrations/azure_blob_storage/files: creates files from blobs, folders, or whole containers. */
export const syncAzureFiles = syncObjects({
  path: '/integrations/azure_blob_storage/files',
  summary: 'Syncs blobs, folders or containers of a connected Azure Blob Storage.',
  type: 'AZURE_BLOB_STORAGE',
  fields: ['id', 'container'],
  wanted: 'Name a container, or an item by its id',
  externalIdOf({ id = '', container = '' }) {
    if (container !== '') return idOf(container, id);
    return id === '' ? null : id;
  },
});
