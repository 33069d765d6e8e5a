import { ALL_SOURCES } from '../../contract/limits.js';
import { AUTO_SYNC_SOURCES } from '../../contract/sources/sources.js';
import type { TagValue } from '../../contract/files/records.js';
import type { FileStatisticsTotals, FileTotals } from '../../contract/files/statistics.js';
import type { OrganizationDoc } from '../../store/models/organizations.js';
import type { UserDoc } from '../../store/models/users.js';

/** Returns the names of source types; `ALL` is replaced by all names. */
export const presentSources = (sources: readonly string[] | null | undefined): readonly string[] =>
  sources?.includes(ALL_SOURCES) === true ? AUTO_SYNC_SOURCES : (sources ?? []);

/** Converts a user to its record in lists, which always has nine fields. */
export function presentUser(user: UserDoc) {
  return {
    id: user._id,
    organization_id: user.organizationId,
    organization_supplied_user_id: user.customerId,
    created_at: user.createdAt.toISOString(),
    updated_at: user.updatedAt.toISOString(),
    deleted_at: user.deletedAt?.toISOString() ?? null,
    enabled_features: user.enabledFeatures ?? {},
    custom_limits: user.customLimits ?? {},
    auto_sync_enabled_sources: presentSources(user.autoSyncSources),
  };
}

/** Returns totals by source, and the number of files by format; empty without statistics. */
export function presentAggregates(statistics: FileStatisticsTotals | null | undefined) {
  const of = (figure: keyof FileTotals): Record<string, number> =>
    Object.fromEntries(Object.entries(statistics?.bySource ?? {}).map(([source, totals]) => [source, totals[figure]]));
  return {
    aggregate_file_size: of('fileSize'),
    aggregate_num_characters: of('numCharacters'),
    aggregate_num_tokens: of('numTokens'),
    aggregate_num_embeddings: of('numEmbeddings'),
    aggregate_num_files_by_source: of('files'),
    aggregate_num_files_by_file_format: statistics?.filesByFormat ?? {},
  };
}

/** Converts a user to its full record, with totals over its files and the connector settings of its organization. */
export function presentWholeUser(
  user: UserDoc,
  statistics: FileStatisticsTotals,
  tags: readonly { key: string; value: TagValue }[],
  organization: OrganizationDoc,
) {
  const sum = (figure: keyof FileTotals): number =>
    Object.values(statistics.bySource).reduce((total, totals) => total + totals[figure], 0);
  return {
    ...presentUser(user),
    num_files_synced: sum('files'),
    num_characters_synced: sum('numCharacters'),
    num_tokens_synced: sum('numTokens'),
    ...presentAggregates(statistics),
    unique_file_tags: tags.map(({ key, value }) => ({ [key]: value })),
    connector_settings: organization.connectorSettings ?? {},
  };
}
