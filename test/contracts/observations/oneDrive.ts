import { elastic, type SourceObservations } from './observation.js';

const SUITE = 'test/connectors/microsoft/oneDrive.test.ts';

export const oneDrive: SourceObservations = {
  source: 'OneDrive',
  observations: [
    {
      aspect: 'changes',
      statement: 'The feed may give files an empty `hashes` object; Microsoft observed it for files of 0 bytes.',
      ...{ link: 'https://github.com/OneDrive/onedrive-api-docs/issues/1704', date: '2023-06-20' },
      evidence: {
        reason: 'Without a hash, the version is the time of change with the size.',
        file: 'connectors/microsoft/drives/adapter.ts',
      },
    },
    {
      aspect: 'formats',
      statement: 'Downloads of Office files and HEIC pictures differ in size and hash from the metadata.',
      ...{ link: 'https://github.com/abraunegg/onedrive/issues/2471', date: '2023-08-21' },
      evidence: {
        reason: 'Size and hash are versions only; a download is never compared with them.',
        file: 'connectors/microsoft/drives/driveSource.ts',
      },
    },
    {
      aspect: 'formats',
      statement: 'SharePoint and OneDrive change uploaded Office files, so sizes of listings and downloads differ.',
      ...{ link: 'https://github.com/rclone/rclone/issues/2036', date: '2021-03-16' },
      evidence: {
        reason: 'Size and hash are versions only; a download is never compared with them.',
        file: 'connectors/microsoft/drives/driveSource.ts',
      },
    },
    {
      aspect: 'formats',
      statement: 'OneNote notebooks are packages: neither files nor folders, without content.',
      ...{ link: 'https://github.com/wisecom-oy/atlas/issues/52', date: '2026-07-14' },
      evidence: {
        test: [SUITE, 'of a notebook: a listing of its drive has hasContent false, a listing of its own id has true'],
      },
    },
    {
      aspect: 'listing',
      statement: 'Folders shared from other drives are links: their contents must be requested from the other drive.',
      ...{ link: 'https://github.com/rclone/rclone/issues/2536', date: '2018-12-26' },
      evidence: { test: [SUITE, 'include folders shared from other drives once, with ids of their own drive'] },
    },
    {
      aspect: 'changes',
      statement: 'A client that reads the feed alone misses files in folders that others share.',
      ...{ link: 'https://github.com/abraunegg/onedrive/issues/2562', date: '2023-12-22' },
      evidence: {
        test: [
          SUITE,
          'reports a stale cursor for a drive with folders of other drives, because Graph does not report their changes',
        ],
      },
    },
    {
      aspect: 'changes',
      statement:
        'A cursor of the feed that is too old is answered with 410 and resyncChanges…, which requires a complete listing.',
      ...{
        link: 'https://github.com/microsoftgraph/microsoft-graph-docs-contrib/blob/028b8e354879f1054adbd96bfa8d16fff4330811/api-reference/v1.0/api/driveitem-delta.md',
        date: '2026-11-26',
      },
      evidence: { test: [SUITE, 'reports %s as stale'] },
    },
    {
      aspect: 'paging',
      statement: 'Only the feed guarantees a complete first listing; pages of `children` may skip items during writes.',
      ...{
        link: 'https://github.com/microsoftgraph/microsoft-graph-docs-contrib/blob/028b8e354879f1054adbd96bfa8d16fff4330811/api-reference/v1.0/api/driveitem-delta.md',
        date: '2026-11-26',
      },
      evidence: { test: [SUITE, 'of a drive contain all of its items with their parents, page by page'] },
    },
    {
      aspect: 'paging',
      statement: 'Links of the feed have their token in the path, with or without quotes.',
      ...{
        link: 'https://github.com/microsoftgraph/microsoft-graph-docs-contrib/blob/028b8e354879f1054adbd96bfa8d16fff4330811/api-reference/v1.0/api/driveitem-delta.md',
        date: '2026-11-26',
      },
      evidence: { test: [SUITE, 'reads the token of a link %s'], fixed: true },
    },
    {
      aspect: 'listing',
      statement: 'The media type of a file is in its facet `file`, which other items lack.',
      ...{ link: elastic(2731), date: '2024-08-07' },
      evidence: { test: [SUITE, 'with invalid entries or fields are read without them'] },
    },
    {
      aspect: 'listing',
      statement: 'Identities in answers may lack an id or be null.',
      ...{ link: elastic(3337), date: '2025-04-09' },
      evidence: { test: [SUITE, 'with invalid entries or fields are read without them'] },
    },
    {
      aspect: 'OAuth',
      statement:
        'prompt=consent asks users for a consent that their administrator has already given, and may block them.',
      ...{ link: 'https://github.com/NangoHQ/nango/pull/4040', date: '2025-05-13' },
      evidence: {
        reason: 'The consent URL has prompt=select_account, never consent.',
        file: 'connectors/microsoft/graph.ts',
      },
    },
    {
      aspect: 'limits',
      statement: 'An app has 1,250 resource units per minute in a small tenant; refused requests count as well.',
      ...{
        link: 'https://github.com/SharePoint/sp-dev-docs/pull/10157',
        date: '2025-03-24',
      },
      evidence: {
        test: [
          'test/long/largeAccounts.test.ts',
          '$name: stays within the quota, loses at most a minute of work by a kill, and syncs everything',
        ],
      },
    },
  ],
};
