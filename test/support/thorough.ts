/** Whether suites that are part of both runs do all that they can: so `npm run test:long` has it (package.json). */
export const isThorough = (): boolean => process.env['TEST_THOROUGHLY'] === 'yes';
