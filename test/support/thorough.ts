import { test } from '@jest/globals';

/** Whether suites that are part of both runs do all that they can: so `npm run test:long` has it (package.json). */
export const isThorough = (): boolean => process.env['TEST_THOROUGHLY'] === 'yes';

const absent = Object.assign(() => undefined, { each: () => () => undefined });

/** A test that `npm run test:long` alone has, of a suite that is part of both runs (jest.long.config.cjs). */
export const thoroughly = (isThorough() ? test : absent) as typeof test;

/** Rows of a table of tests that `npm run test:long` alone has. */
export const thoroughRows = <const T>(rows: readonly T[]): readonly T[] => (isThorough() ? rows : []);
