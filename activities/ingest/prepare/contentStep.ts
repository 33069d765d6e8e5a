import { Fault } from '../../../contract/failures.js';
import type { ActivityDeps } from '../../deps.js';

/**
 * Runs a step on content. An error that is not a Fault is a bug that this content triggered. It is converted to a Fault,
 * so that it fails the file and not the batch.
 * @param what past participle for the error message, such as `fetched`
 */
export async function contentStep<T>(
  what: string,
  signal: AbortSignal,
  deps: ActivityDeps,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Fault || signal.aborted) throw error;
    deps.log.error({ err: error, step: what }, 'an internal error while processing an item');
    throw new Fault(
      'broken_content',
      `This content could not be ${what} because of an internal error. See the log for the cause.`,
      { cause: error },
    );
  }
}
