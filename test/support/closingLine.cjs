/** Jest reporter: the plain closing line that CI reads, after everything else that Jest prints. */
module.exports = class ClosingLine {
  onRunComplete(_contexts, results) {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, numRuntimeErrorTestSuites } = results;
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    process.once('exit', () => {
      process.stdout.write(`${numPassedTests} passed, ${failed} failed, ${numPendingTests + numTodoTests} skipped\n`);
    });
  }
};
