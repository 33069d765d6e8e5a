import type { ItemRow } from '../../store/items/items.js';

/** Converts an item of a connected account to its record. */
export const presentItem = ({ item, fileId }: ItemRow) => ({
  id: item._id,
  external_id: item.externalId,
  source: item.source,
  name: item.name,
  synced_at: item.syncedAt.toISOString(),
  is_selectable: item.isSelectable,
  is_expandable: item.isExpandable,
  organization_id: item.organizationId,
  organization_supplied_user_id: item.customerId,
  organization_user_id: item.userId,
  organization_user_data_source_id: item.dataSourceId,
  organization_user_file_to_sync_id: fileId,
  parent_external_id: item.parentExternalId,
  item_type: item.itemType,
  root_external_id: item.rootExternalId,
  external_url: item.externalUrl,
  file_format: item.fileFormat,
  created_at: item.createdAt.toISOString(),
  updated_at: item.updatedAt.toISOString(),
});
