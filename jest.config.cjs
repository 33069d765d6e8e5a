/** One engine set for the whole run: test/support/globalSetup.mjs starts it, globalTeardown.mjs stops it. */
module.exports = {
  testEnvironment: 'node',
  globalSetup: '<rootDir>/test/support/globalSetup.mjs',
  globalTeardown: '<rootDir>/test/support/globalTeardown.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
    ],
  },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  // What takes minutes is run by `npm run test:long` alone.
  testMatch: ['<rootDir>/test/*.test.ts', '<rootDir>/test/!(long)/**/*.test.ts'],
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/.data', '<rootDir>/.engines'],
  testTimeout: 60_000,
  // Most suites wait for something most of the time: one more than Jest would take on two cores.
  maxWorkers: 2,
  // Clients of a Temporal that a test has stopped keep timers of their own for some seconds after they are closed.
  forceExit: true,
  reporters: ['default', '<rootDir>/test/support/closingLine.cjs'],
};
