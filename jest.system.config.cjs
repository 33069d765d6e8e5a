/** Kills, outages, engines of their own, Chromium, fuzzing, and all sources through their catalogue: `npm run test:system`. */
const config = require('./jest.config.cjs');

module.exports = {
  ...config,
  testMatch: ['<rootDir>/test/system/**/*.test.ts'],
  // Its suites kill and starve processes: four at once would miss their time limits.
  maxWorkers: 3,
};
