import type { SourceObservations } from './observation.js';

const SUITE = 'test/connectors/guru.test.ts';
/** Guru's own client. */
const sdk = (path: string): string => `https://github.com/guruhq/py-sdk/${path}`;

export const guru: SourceObservations = {
  source: 'Guru',
  observations: [
    {
      aspect: 'changes',
      statement: 'The entries of a folder have the dates of their cards only with cardDetail=FULL.',
      ...{ link: sdk('commit/824dfe5'), date: '2023-06-20' },
      evidence: {
        test: [SUITE, 'gives the cards of folders their dates, so that unchanged ones are not fetched again'],
        fixed: true,
      },
    },
    {
      aspect: 'deletions',
      statement: 'The details of an archived card are refused with 404, although the card itself can still be read.',
      ...{ link: sdk('blob/685ca65/guru/core.py'), date: '2024-12-18' },
      evidence: { test: [SUITE, 'does not find archived cards, which Guru omits from lists and refuses with 404'] },
    },
    {
      aspect: 'listing',
      statement: 'A list without results has status 204 and no body.',
      ...{ link: sdk('blob/685ca65/guru/core.py'), date: '2024-12-18' },
      evidence: { test: [SUITE, 'an empty search, which Guru answers with 204, is the end of the list'] },
    },
    {
      aspect: 'paging',
      statement: 'In the default order, by time of change, cards that change during a sync move to other pages.',
      ...{ link: 'https://github.com/PostHog/posthog/pull/62876', date: '2026-06-11' },
      evidence: { reason: 'Cards are listed by the time of their creation.', file: 'connectors/guru/index.ts' },
    },
    {
      aspect: 'paging',
      statement:
        'The next page is a whole address in the Link header, which must not lead the credentials to another host.',
      ...{ link: 'https://github.com/PostHog/posthog/pull/62876', date: '2026-06-11' },
      evidence: { test: [SUITE, 'stores only the query of a next link, so that the link cannot change the host'] },
    },
    {
      aspect: 'limits',
      statement: 'Guru documents no rate limits, so that clients must adapt to its refusals.',
      ...{ link: 'https://github.com/dust-tt/dust-labs/pull/45', date: '2025-03-19' },
      evidence: {
        test: [
          'test/connectors/rateLimiter.test.ts',
          'spreads the requests of an account for ten minutes after a refusal, and does not delay them otherwise',
        ],
      },
    },
  ],
};
