/** Jest reporter: the plain closing line that CI reads. */
module.exports = class ClosingLine {
  onRunComplete(
    _contexts,
    { numPassedTests, numFailedTests, numPendingTests, numTodoTests, numRuntimeErrorTestSuites },
  ) {
    process.stdout.write(
      `${numPassedTests} passed, ${numFailedTests + numRuntimeErrorTestSuites} failed, ${numPendingTests + numTodoTests} skipped\n`,
    );
  }
};
