import type { DataSourceRecord } from '../../contract/files/records.js';
import { tagObject } from '../../contract/files/tags.js';
import type { WorkflowLink } from '../../contract/runs/temporalLinks.js';
import { listingWorkflow } from '../../store/dataSources/listings.js';
import type { DataSourceDoc } from '../../store/models/dataSources.js';

/**
 * Converts a data source to its record: 18 fields of the contract, and our extensions. `token` only shows whether
 * credentials are stored.
 */
export function presentDataSource(
  source: DataSourceDoc,
  { workflowLink }: { readonly workflowLink: WorkflowLink },
): DataSourceRecord {
  return {
    id: source._id,
    data_source_external_id: source.externalId,
    data_source_type: source.type,
    token: source.sealedCredentials === null ? null : {},
    sync_status: source.syncStatus,
    source_items_synced_at: source.sourceItemsSyncedAt?.toISOString() ?? null,
    organization_user_id: source.userId,
    organization_id: source.organizationId,
    organization_supplied_user_id: source.customerId,
    revoked_access: source.revokedAccess,
    last_synced_at: source.lastSyncedAt.toISOString(),
    last_sync_action: source.lastSyncAction,
    enable_auto_sync: source.enableAutoSync,
    created_at: source.createdAt.toISOString(),
    updated_at: source.updatedAt.toISOString(),
    files_synced_at: source.filesSyncedAt?.toISOString() ?? null,
    // `tagsStopped`: the run that copies tags to files was stopped, so some files may have previous tags. The next
    // change of tags updates all files.
    data_source_metadata: { ...source.metadata, ...(source.tagsStopped ? { tags_pending: true } : {}) },
    tags: tagObject(source.tags),
    ...workflowLink(listingWorkflow(source)),
  };
}
