/** A start that failed for a reason outside the program. Its message is all that an operator is shown: cause and remedy. */
export class StartError extends Error {
  override readonly name: string = 'StartError';
}
