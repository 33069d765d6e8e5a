/**
 * The whole run uses one Temporal, one MongoDB and one Qdrant: test/support/globalSetup.mjs starts them,
 * globalTeardown.mjs stops them.
 */
module.exports = {
  testEnvironment: '<rootDir>/test/support/environment.cjs',
  globalSetup: '<rootDir>/test/support/globalSetup.mjs',
  globalTeardown: '<rootDir>/test/support/globalTeardown.mjs',
  // Compares the requests of connectors, and the answers of emulators, with the published specifications.
  setupFilesAfterEnv: ['<rootDir>/test/contracts/checkContracts.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
    ],
  },
  moduleNameMapper: {
    // Imports name the compiled `.js` files, which are `.ts` files in the source.
    '^(\\.{1,2}/.*)\\.js$': '$1',
    // Large packages, which Node loads once for all suites of a process (environment.cjs). Loading them for each suite
    // would take a sixth of the processor time of the run.
    '^@temporalio/(activity|client|common|worker)$': '<rootDir>/test/support/shared/temporalio/$1.cjs',
    '^(express|joi|mongoose|undici)$': '<rootDir>/test/support/shared/$1.cjs',
  },
  // Other commands run the other suites: jest.system.config.cjs and jest.long.config.cjs.
  testMatch: ['<rootDir>/test/*.test.ts', '<rootDir>/test/!(system|long)/**/*.test.ts'],
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/.data', '<rootDir>/.engines'],
  // Only a hang reaches this limit; conditions that tests wait for have shorter ones (test/support/waitFor.ts).
  testTimeout: 300_000,
  // Suites spend much of their time waiting: four workers keep two cores busy. With three, `npm test` and
  // `npm run test:system` take a fifth longer.
  maxWorkers: 4,
  // Suites leave objects in the memory of their process, which slow all later suites.
  workerIdleMemoryLimit: '800MB',
  testSequencer: '<rootDir>/test/support/sequencer.cjs',
  // Clients of a Temporal that a test has stopped keep timers of their own for some seconds after they are closed.
  forceExit: true,
};
