import { elastic, nango, type SourceObservations } from './observation.js';

const SUITE = 'test/connectors/salesforce.test.ts';

export const salesforce: SourceObservations = {
  source: 'Salesforce',
  observations: [
    {
      aspect: 'listing',
      statement: 'Organizations lack fields or hide them from users, and a query that names one fails as a whole.',
      ...{ link: 'https://github.com/NangoHQ/integration-templates/pull/124', date: '2024-11-26' },
      evidence: {
        test: [SUITE, 'because of fields hidden from the user is repeated without them; the object is described once'],
        fixed: true,
      },
    },
    {
      aspect: 'limits',
      statement: 'Clients that request the description of an object before each query use up the daily quota.',
      ...{ link: elastic(3668), date: '2025-09-08' },
      evidence: {
        test: [SUITE, 'because of fields hidden from the user is repeated without them; the object is described once'],
      },
    },
    {
      aspect: 'OAuth',
      statement: 'The identity of the user needs the scope id (or profile, email); api alone does not include it.',
      ...{ link: 'http://www.infallibletechie.com/2019/12/salesforce-scope-parameter.html', date: '2019-12' },
      evidence: {
        test: [SUITE, 'identifies the user by the API if userinfo needs a scope that was not granted'],
        fixed: true,
      },
    },
    {
      aspect: 'OAuth',
      statement: 'Token answers have no expiry; only a refusal shows that a session has ended.',
      ...{ link: nango(3530), date: '2025-02-17' },
      evidence: {
        test: [SUITE, 'refreshes an expired session once, and fails with access_revoked if the refresh is rejected'],
      },
    },
  ],
};
