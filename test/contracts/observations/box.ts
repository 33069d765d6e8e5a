import { onyx, type SourceObservations } from './observation.js';

const SUITE = 'test/connectors/box.test.ts';
const TOKENS = 'test/connectors/tokenEndpoints.test.ts';
const openapi = (pull: number): string => `https://github.com/box/box-openapi/pull/${pull}`;

export const box: SourceObservations = {
  source: 'Box',
  observations: [
    {
      aspect: 'OAuth',
      statement: 'Wrong credentials of the app are answered with 400 and invalid_client or unauthorized_client.',
      ...{ link: onyx(13_655), date: '2026-07-31' },
      evidence: { test: [TOKENS, 'a refused grant, client or request is final at every token endpoint'] },
    },
    {
      aspect: 'OAuth',
      statement: 'The token endpoint answers 429 temporarily_unavailable under load, which does not end the grant.',
      ...{ link: 'https://github.com/rclone/rclone/issues/3443', date: '2019-08-14' },
      evidence: {
        test: [
          TOKENS,
          'a rate limit or failure of a token endpoint is retryable, and leaves the stored grant unchanged',
        ],
      },
    },
    {
      aspect: 'OAuth',
      statement: 'A refresh token works once: of two concurrent refreshes, one fails with invalid_grant.',
      ...{ link: 'https://github.com/rclone/rclone/issues/2054', date: '2018-02-06' },
      evidence: {
        test: [
          'test/connectors/liveGrant.test.ts',
          'a refused refresh does not end the grant if another process has stored a grant meanwhile',
        ],
      },
    },
    {
      aspect: 'paging',
      statement: 'Lists by offset hang or miss items in large folders; markers do not.',
      ...{ link: 'https://github.com/rclone/rclone/issues/5545', date: '2021-08-19' },
      evidence: { test: [SUITE, 'lists the items of the root folder as roots, across all pages'] },
    },
    {
      aspect: 'paging',
      statement: 'Markers are texts, not numbers.',
      ...{ link: openapi(359), date: '2023-09-19' },
      evidence: { test: [SUITE, 'lists the items of the root folder as roots, across all pages'] },
    },
    {
      aspect: 'paging',
      statement: 'next_marker was corrected to a text in the specification.',
      ...{ link: openapi(383), date: '2023-11-27' },
      evidence: {
        reason: 'The connector reads and sends markers as texts; its requests are compared with this specification.',
        file: 'test/contracts/tables/box.ts',
      },
    },
    {
      aspect: 'changes',
      statement: 'next_stream_position is a 64-bit number, which JavaScript does not represent exactly.',
      ...{ link: openapi(535), date: '2025-07-17' },
      evidence: {
        test: [
          'test/connectors/sourceClient.test.ts',
          'reads integers beyond the safe range as strings, and leaves other values unchanged',
        ],
      },
    },
    {
      aspect: 'changes',
      statement: 'New types of events appear over time.',
      ...{ link: openapi(605), date: '2026-06-10' },
      evidence: {
        reason: 'The type of an event is ignored: each event names an item whose state is requested.',
        file: 'connectors/box/changes.ts',
      },
    },
    {
      aspect: 'formats',
      statement: 'A download may answer 200 with the bytes instead of a redirect.',
      ...{ link: openapi(336), date: '2023-07-28' },
      evidence: {
        reason: 'Both are read: a redirect is followed, other successes are the content.',
        file: 'connectors/sourceClient.ts',
      },
    },
    {
      aspect: 'listing',
      statement: 'Links to folders contain /folder/ or /folders/; the ids in them are numbers.',
      ...{ link: onyx(12_862), date: '2026-07-19' },
      evidence: {
        reason: 'Callers send ids, which are numbers, not links; any other id is not found.',
        file: 'connectors/box/adapter.ts',
      },
    },
    {
      aspect: 'OAuth',
      statement: 'Logins are e-mail addresses, in upper or lower case.',
      ...{ link: onyx(12_862), date: '2026-07-19' },
      evidence: { test: [SUITE, 'identifies the account by the user who consented'] },
    },
    {
      aspect: 'deletions',
      statement:
        'The trash also contains items that other accounts own. Deleting them fails, and listing a large trash can hang.',
      ...{ link: 'https://github.com/rclone/rclone/issues/5545', date: '2021-08-19' },
      evidence: {
        reason: 'The trash is never listed; the status of each item shows whether the item is in the trash.',
        file: 'connectors/box/adapter.ts',
      },
    },
  ],
};
