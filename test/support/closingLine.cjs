/** Jest reporter: which tests passed only on their second try, and the plain line of counts that CI reads; .ci/run repeats it at the very end. */
module.exports = class ClosingLine {
  onRunComplete(_contexts, results) {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, numRuntimeErrorTestSuites } = results;
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    for (const { testFilePath, testResults } of results.testResults)
      for (const { status, invocations, fullName } of testResults)
        if (status === 'passed' && invocations > 1)
          process.stdout.write(`\nPASSED ONLY ON THE SECOND TRY: ${testFilePath}: ${fullName}`);
    process.stdout.write(`\n${numPassedTests} passed, ${failed} failed, ${numPendingTests + numTodoTests} skipped\n`);
  }
};
