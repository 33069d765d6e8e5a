/** What takes minutes: `npm run test:long`. */
module.exports = { ...require('./jest.config.cjs'), testMatch: ['<rootDir>/test/long/**/*.test.ts'], maxWorkers: 1 };
