import type { SourceObservations } from './observation.js';

const SUITE = 'test/connectors/googleCloudStorage.test.ts';

export const googleCloudStorage: SourceObservations = {
  source: 'Google Cloud Storage',
  observations: [
    {
      aspect: 'listing',
      statement:
        'The list of projects is refused with 403 until the Resource Manager API is enabled in the project of the client.',
      ...{ link: 'https://github.com/nccgroup/ScoutSuite/issues/616', date: '2022-03-28' },
      evidence: {
        test: [SUITE, 'reports a refused list of projects with the reason %s as %s'],
        fixed: true,
      },
    },
  ],
};
