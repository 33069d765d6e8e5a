import { test } from '@jest/globals';

/**
 * Whether `npm run test:long` is running. Suites that `npm test` or `npm run test:system` runs too then run their
 * remaining tests.
 */
export const isThorough = (): boolean => process.env['TEST_THOROUGHLY'] === 'yes';

const absent = Object.assign(() => undefined, { each: () => () => undefined });

/**
 * Defines a test that runs only in `npm run test:long`, in a suite that other commands run too (jest.long.config.cjs).
 */
export const thoroughly = (isThorough() ? test : absent) as typeof test;

/** Returns rows of a test table that are used only in `npm run test:long`. */
export const thoroughRows = <const T>(rows: readonly T[]): readonly T[] => (isThorough() ? rows : []);
