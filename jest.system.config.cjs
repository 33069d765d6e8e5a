/**
 * `npm run test:system`: killed processes, outages, suites with engines of their own, Chromium, random requests, and the
 * catalogue of tests for every source.
 */
const config = require('./jest.config.cjs');

module.exports = {
  ...config,
  testMatch: ['<rootDir>/test/system/**/*.test.ts'],
  // Its suites kill and starve processes: four at once would miss their time limits.
  maxWorkers: 3,
};
