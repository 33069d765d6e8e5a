/** What takes minutes: `npm run test:long`. */
const config = require('./jest.config.cjs');

module.exports = {
  ...config,
  testMatch: [
    '<rootDir>/test/long/**/*.test.ts',
    // These do more of the same here.
    '<rootDir>/test/acceptance/contractCalls.test.ts',
    '<rootDir>/test/workflows/steps.test.ts',
  ],
  maxWorkers: 1,
};
