import { onyx, type SourceObservations } from './observation.js';

const SUITE = 'test/connectors/box.test.ts';
const TOKENS = 'test/connectors/tokenEndpoints.test.ts';
const openapi = (pull: number): string => `https://github.com/box/box-openapi/pull/${pull}`;

export const box: SourceObservations = {
  source: 'Box',
  facts: [
    {
      about: 'OAuth',
      fact: 'Wrong credentials of the app are answered with 400 and invalid_client or unauthorized_client.',
      ...{ seen: onyx(13_655), date: '2026-07-31' },
      ours: { test: [TOKENS, 'a refused grant, client or request is final at every token endpoint'] },
    },
    {
      about: 'OAuth',
      fact: 'The token endpoint answers 429 temporarily_unavailable under load, which does not end the grant.',
      ...{ seen: 'https://github.com/rclone/rclone/issues/3443', date: '2019-08-14' },
      ours: {
        test: [
          TOKENS,
          'a rate limit or failure of a token endpoint is retried, and neither uses up the grant nor ends it',
        ],
      },
    },
    {
      about: 'OAuth',
      fact: 'A refresh token works once: clients that refresh twice at once end with invalid_grant.',
      ...{ seen: 'https://github.com/rclone/rclone/issues/2054', date: '2018-02-06' },
      ours: {
        test: [
          'test/connectors/liveGrant.test.ts',
          'a refused refresh does not end the grant if another process has stored a grant meanwhile',
        ],
      },
    },
    {
      about: 'paging',
      fact: 'Lists by offset hang or miss items in large folders; markers do not.',
      ...{ seen: 'https://github.com/rclone/rclone/issues/5545', date: '2021-08-19' },
      ours: { test: [SUITE, 'lists the items of the root folder as roots, across all pages'] },
    },
    {
      about: 'paging',
      fact: 'Markers are texts, not numbers.',
      ...{ seen: openapi(359), date: '2023-09-19' },
      ours: { test: [SUITE, 'lists the items of the root folder as roots, across all pages'] },
    },
    {
      about: 'paging',
      fact: 'next_marker was corrected to a text in the specification.',
      ...{ seen: openapi(383), date: '2023-11-27' },
      ours: {
        safe: 'A marker of another type does not end a list: requests and answers are compared with the specification.',
        in: 'test/contracts/tables/box.ts',
      },
    },
    {
      about: 'changes',
      fact: 'next_stream_position is a 64-bit number, which JavaScript does not represent exactly.',
      ...{ seen: openapi(535), date: '2025-07-17' },
      ours: {
        test: [
          'test/connectors/sourceClient.test.ts',
          'reads integers beyond the safe range as strings, and leaves other values unchanged',
        ],
      },
    },
    {
      about: 'changes',
      fact: 'New types of events appear over time.',
      ...{ seen: openapi(605), date: '2026-06-10' },
      ours: {
        safe: 'The type of an event is ignored: each event names an item whose state is requested.',
        in: 'connectors/box/changes.ts',
      },
    },
    {
      about: 'formats',
      fact: 'A download may answer 200 with the bytes instead of a redirect.',
      ...{ seen: openapi(336), date: '2023-07-28' },
      ours: {
        safe: 'Both are read: a redirect is followed, other successes are the content.',
        in: 'connectors/sourceClient.ts',
      },
    },
    {
      about: 'listing',
      fact: 'Links to folders have /folder/ and /folders/; ids in them are numbers.',
      ...{ seen: onyx(12_862), date: '2026-07-19' },
      ours: {
        safe: 'Callers give numbers, not links; others are not found.',
        in: 'connectors/box/adapter.ts',
      },
    },
    {
      about: 'OAuth',
      fact: 'Logins are e-mail addresses in any case.',
      ...{ seen: onyx(12_862), date: '2026-07-19' },
      ours: { test: [SUITE, 'identifies the account by the user who consented'] },
    },
    {
      about: 'deletions',
      fact: 'The trash contains items of other accounts, which cannot be deleted or listed completely.',
      ...{ seen: 'https://github.com/rclone/rclone/issues/5545', date: '2021-08-19' },
      ours: {
        safe: 'The trash is never listed; the status of each item shows whether it is in it.',
        in: 'connectors/box/adapter.ts',
      },
    },
  ],
};
