/**
 * A test that fails is tried once more. The suites share two cores, at times with strangers, and what depends on the
 * moment fails once in thousands of runs. The first failure is printed, and closingLine.cjs names each such test at the
 * end of the run: it is a fault to be found, not one that is gone.
 */
/* global jest */
jest.retryTimes(1, { logErrorsBeforeRetry: true });
