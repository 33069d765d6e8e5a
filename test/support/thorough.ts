import { test } from '@jest/globals';

/** Whether suites that are part of both runs do everything they can, as in `npm run test:long` (package.json). */
export const isThorough = (): boolean => process.env['TEST_THOROUGHLY'] === 'yes';

const absent = Object.assign(() => undefined, { each: () => () => undefined });

/** Defines a test that runs only in `npm run test:long`, in a suite of both runs (jest.long.config.cjs). */
export const thoroughly = (isThorough() ? test : absent) as typeof test;

/** Returns rows of a test table that are used only in `npm run test:long`. */
export const thoroughRows = <const T>(rows: readonly T[]): readonly T[] => (isThorough() ? rows : []);
