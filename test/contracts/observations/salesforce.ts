import { elastic, nango, type SourceObservations } from './observation.js';

const SUITE = 'test/connectors/salesforce.test.ts';

export const salesforce: SourceObservations = {
  source: 'Salesforce',
  facts: [
    {
      about: 'listing',
      fact: 'Organizations lack fields or hide them from users, and a query that names one fails as a whole.',
      ...{ seen: 'https://github.com/NangoHQ/integration-templates/pull/124', date: '2024-11-26' },
      ours: { test: [SUITE, 'is omitted, with one description of the object for all queries'], fixed: true },
    },
    {
      about: 'limits',
      fact: 'Descriptions of objects before each query use up the daily quota.',
      ...{ seen: elastic(3668), date: '2025-09-08' },
      ours: { test: [SUITE, 'is omitted, with one description of the object for all queries'] },
    },
    {
      about: 'OAuth',
      fact: 'The identity of the user needs the scope id (or profile, email); api alone does not include it.',
      ...{ seen: 'http://www.infallibletechie.com/2019/12/salesforce-scope-parameter.html', date: '2019-12' },
      ours: {
        test: [SUITE, 'identifies the user by the API if userinfo needs a scope that was not granted'],
        fixed: true,
      },
    },
    {
      about: 'OAuth',
      fact: 'Token answers have no expiry; only a refusal shows that a session has ended.',
      ...{ seen: nango(3530), date: '2025-02-17' },
      ours: {
        test: [SUITE, 'refreshes an expired session once, and fails with access_revoked if the refresh is rejected'],
      },
    },
  ],
};
