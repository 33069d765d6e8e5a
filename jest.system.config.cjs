/**
 * `npm run test:system`: killed processes, outages, suites with their own Temporal, MongoDB or Qdrant, Chromium, random
 * requests, and the catalogue of tests for every source.
 */
const config = require('./jest.config.cjs');

module.exports = { ...config, testMatch: ['<rootDir>/test/system/**/*.test.ts'] };
