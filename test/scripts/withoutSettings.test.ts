import { expect, test } from '@jest/globals';

import { withoutSettings } from '../../scripts/withoutSettings.js';

test('removes the settings of an installation, and keeps other variables', () => {
  const stores = { MONGODB_URI: 'mongodb://db', TEMPORAL_ADDRESS: 't:7233', QDRANT_URL: 'http://q', S3_BUCKET: 'b' };
  const folders = { DATA_DIR: '/var/lib/allotrope', FILE_STORAGE_DIR: '/srv/files' };
  const keys = { SECRET_KEY: 'k1:key', API_KEY: 'key', PUBLIC_URL: 'https://allotrope.example' };
  const others = { PATH: '/usr/bin', HTTPS_PROXY: 'http://proxy:3128', constructor: 'a variable' };
  expect(withoutSettings({ ...stores, ...folders, ...keys, ...others })).toEqual(others);
});
