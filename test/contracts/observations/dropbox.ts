import { elastic, nango, type SourceObservations } from './observation.js';

const SUITE = 'test/connectors/dropbox.test.ts';

export const dropbox: SourceObservations = {
  source: 'Dropbox',
  facts: [
    {
      about: 'changes',
      fact: 'A recursive list of a team space was observed without the contents of team folders and shared folders.',
      ...{ seen: 'https://github.com/watermint/toolbox/issues/667', date: '2022-11-13' },
      ours: {
        test: [SUITE, 'of a member of a team are listed completely after 50 syncs, those of others are not'],
        fixed: true,
      },
    },
    {
      about: 'paging',
      fact: 'A cursor can become invalid between pages (409 reset): the list must start again.',
      ...{ seen: 'https://github.com/BasedHardware/omi/pull/13821', date: '2026-09-14' },
      ours: { test: [SUITE, 'restarts a folder whose cursor has expired'] },
    },
    {
      about: 'paging',
      fact: 'Pages may have a single entry; only has_more marks the end.',
      ...{ seen: 'https://github.com/dropbox/dropbox-sdk-java/issues/284', date: '2020-06-08' },
      ours: { test: [SUITE, 'lists the items of the root folder as roots, across all pages'] },
    },
    {
      about: 'paging',
      fact: 'Without following the cursor, only the first 500 entries are seen.',
      ...{ seen: 'https://github.com/dropbox/dropbox-sdk-python/issues/513', date: '2024-12-11' },
      ours: { test: [SUITE, 'lists the items of the root folder as roots, across all pages'] },
    },
    {
      about: 'limits',
      fact: 'too_many_requests comes while many folders are listed.',
      ...{ seen: 'https://github.com/rclone/rclone/issues/1788', date: '2017-10-31' },
      ours: { safe: 'It is a rate limit, whose wait may be in the body.', in: 'connectors/dropbox/api.ts' },
    },
    {
      about: 'formats',
      fact: 'Some files are always refused with restricted_content.',
      ...{ seen: 'https://github.com/rbonghi/docker-dropbox-app/issues/7', date: '2020-04-20' },
      ours: { test: [SUITE, 'reports %j as %s'] },
    },
    {
      about: 'listing',
      fact: 'Members of a team see its folders only with the header Dropbox-API-Path-Root.',
      ...{ seen: 'https://github.com/nextcloud/integration_dropbox/issues/24', date: '2023-12-12' },
      ours: { test: [SUITE, 'sends the root namespace of a team member only, and renews it after it changes'] },
    },
    {
      about: 'listing',
      fact: 'The folder of a user is below the root of the team, so paths change with the root.',
      ...{ seen: 'https://github.com/rclone/rclone/issues/2003', date: '2018-01-23' },
      ours: { test: [SUITE, 'lists a folder recursively with the parent of each item, by id or by path'] },
    },
    {
      about: 'listing',
      fact: 'The root namespace changes when a user joins or leaves a team.',
      ...{ seen: 'https://github.com/samschott/maestral/pull/450', date: '2021-09-06' },
      ours: { test: [SUITE, 'sends the root namespace of a team member only, and renews it after it changes'] },
    },
    {
      about: 'listing',
      fact: 'Files in shared folders of a team need another namespace than those of the user.',
      ...{ seen: elastic(2718), date: '2024-08-12' },
      ours: { test: [SUITE, 'sends the root namespace of a team member only, and renews it after it changes'] },
    },
    {
      about: 'OAuth',
      fact: 'Without token_access_type=offline there is no refresh token.',
      ...{ seen: nango(798), date: '2023-07-19' },
      ours: { safe: 'The consent URL has it.', in: 'connectors/dropbox/index.ts' },
    },
    {
      about: 'listing',
      fact: 'Folders that others share are absent until the user mounts them.',
      ...{ seen: 'https://github.com/rclone/rclone/issues/3366', date: '2019-07-22' },
      ours: {
        safe: 'The documentation promises only mounted folders: "including shared and mounted ones".',
        in: 'connectors/dropbox/index.ts',
      },
    },
  ],
};
