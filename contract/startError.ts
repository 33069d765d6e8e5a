/** A start that failed for an external reason. The operator sees only its message: cause and remedy. */
export class StartError extends Error {
  override readonly name: string = 'StartError';
}
