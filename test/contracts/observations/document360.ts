import type { SourceObservations } from './observation.js';

const SUITE = 'test/connectors/document360.test.ts';
/** A copy of the specification, with examples of answers. */
const EXAMPLES = 'https://github.com/twardoch/d361api/blob/5f26903/swagger.json';

export const document360: SourceObservations = {
  source: 'Document360',
  observations: [
    {
      aspect: 'limits',
      statement:
        'A token has 60 or 100 requests per minute; a refusal names the seconds to wait in X-RateLimit-Reset only.',
      ...{ link: 'https://apidocs.document360.com/apidocs/rate-limiting', date: '2026-11' },
      evidence: { test: [SUITE, 'waits for the number of seconds in X-RateLimit-Reset'], fixed: true },
    },
    {
      aspect: 'formats',
      statement: 'Times have no time zone, as in 2024-06-13T14:30:00.',
      ...{ link: EXAMPLES, date: '2026-08-17' },
      evidence: {
        test: [SUITE, 'reads times without a time zone as UTC, whatever the time zone of the server'],
        fixed: true,
      },
    },
    {
      aspect: 'deletions',
      statement: 'A missing article is refused with 400 and `success: true`; only the error text names the cause.',
      ...{ link: EXAMPLES, date: '2026-08-17' },
      evidence: {
        test: [SUITE, 'reports a response with success false as a server error, and an unknown id as not found'],
      },
    },
    {
      aspect: 'changes',
      statement: 'Articles in a listing may have no time of change.',
      ...{ link: EXAMPLES, date: '2026-08-17' },
      evidence: {
        reason: 'Such an article has no version, so that each sync fetches it again.',
        file: 'connectors/document360/adapter.ts',
      },
    },
  ],
};
