/** `npm run test:long`: tests that take minutes or hours. */
const { readFileSync } = require('node:fs');
const path = require('node:path');
const tinyglobby = require('tinyglobby');
const config = require('./jest.config.cjs');

/**
 * Returns whether a test file outside test/long has tests, or rows of test tables, that run only in `npm run
 * test:long`.
 */
const doesMore = (suite) => readFileSync(path.join(__dirname, suite), 'utf8').includes('/support/thorough.js');
const suites = tinyglobby.globSync(['test/**/*.test.ts', '!test/long/**'], { cwd: __dirname });

module.exports = {
  ...config,
  testMatch: ['test/long/**/*.test.ts', ...suites.filter(doesMore)].map((suite) => `<rootDir>/${suite}`),
  maxWorkers: 1,
};
