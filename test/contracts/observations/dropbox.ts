import { elastic, nango, type SourceObservations } from './observation.js';

const SUITE = 'test/connectors/dropbox.test.ts';

export const dropbox: SourceObservations = {
  source: 'Dropbox',
  observations: [
    {
      aspect: 'changes',
      statement:
        'A recursive list of a team space was observed without the contents of team folders and shared folders.',
      ...{ link: 'https://github.com/watermint/toolbox/issues/667', date: '2022-11-13' },
      evidence: {
        test: [
          SUITE,
          'have a stale cursor after 50 syncs for a member of a team, so that everything is listed, but not for other accounts',
        ],
        fixed: true,
      },
    },
    {
      aspect: 'paging',
      statement: 'A cursor can become invalid between pages (409 reset): the list must start again.',
      ...{ link: 'https://github.com/BasedHardware/omi/pull/13821', date: '2026-09-14' },
      evidence: { test: [SUITE, 'restarts a folder whose cursor has expired'] },
    },
    {
      aspect: 'paging',
      statement: 'Pages may have a single entry; only has_more marks the end.',
      ...{ link: 'https://github.com/dropbox/dropbox-sdk-java/issues/284', date: '2020-06-08' },
      evidence: { test: [SUITE, 'lists the items of the root folder as roots, across all pages'] },
    },
    {
      aspect: 'paging',
      statement: 'Without following the cursor, only the first 500 entries are seen.',
      ...{ link: 'https://github.com/dropbox/dropbox-sdk-python/issues/513', date: '2024-12-11' },
      evidence: { test: [SUITE, 'lists the items of the root folder as roots, across all pages'] },
    },
    {
      aspect: 'limits',
      statement: 'Dropbox answers too_many_requests while many folders are listed.',
      ...{ link: 'https://github.com/rclone/rclone/issues/1788', date: '2017-10-31' },
      evidence: {
        reason: 'The error is a rate limit, whose wait may be in the body.',
        file: 'connectors/dropbox/api.ts',
      },
    },
    {
      aspect: 'formats',
      statement: 'Some files are always refused with restricted_content.',
      ...{ link: 'https://github.com/rbonghi/docker-dropbox-app/issues/7', date: '2020-04-20' },
      evidence: { test: [SUITE, 'reports %j as %s'] },
    },
    {
      aspect: 'listing',
      statement: 'Members of a team see its folders only with the header Dropbox-API-Path-Root.',
      ...{ link: 'https://github.com/nextcloud/integration_dropbox/issues/24', date: '2023-12-12' },
      evidence: {
        test: [SUITE, 'sends the root namespace only for a member of a team, and requests it again after it changes'],
      },
    },
    {
      aspect: 'listing',
      statement: 'The folder of a user is below the root of the team, so paths change with the root.',
      ...{ link: 'https://github.com/rclone/rclone/issues/2003', date: '2018-01-23' },
      evidence: { test: [SUITE, 'lists a folder recursively with the parent of each item, by id or by path'] },
    },
    {
      aspect: 'listing',
      statement: 'The root namespace changes when a user joins or leaves a team.',
      ...{ link: 'https://github.com/samschott/maestral/pull/450', date: '2021-09-06' },
      evidence: {
        test: [SUITE, 'sends the root namespace only for a member of a team, and requests it again after it changes'],
      },
    },
    {
      aspect: 'listing',
      statement: 'Requests for files in shared folders of a team need another namespace than that of the user.',
      ...{ link: elastic(2718), date: '2024-08-12' },
      evidence: {
        test: [SUITE, 'sends the root namespace only for a member of a team, and requests it again after it changes'],
      },
    },
    {
      aspect: 'OAuth',
      statement: 'Without token_access_type=offline there is no refresh token.',
      ...{ link: nango(798), date: '2023-07-19' },
      evidence: { reason: 'The consent URL has it.', file: 'connectors/dropbox/index.ts' },
    },
    {
      aspect: 'listing',
      statement: 'Folders that others share are absent until the user mounts them.',
      ...{ link: 'https://github.com/rclone/rclone/issues/3366', date: '2019-07-22' },
      evidence: {
        reason: 'The documentation promises only mounted folders: "including shared and mounted ones".',
        file: 'connectors/dropbox/index.ts',
      },
    },
  ],
};
