import { answerTask, type PoolAnswer, type PoolTask } from './answerTask.js';

export interface ThreadTask extends PoolTask {
  /** Shared memory with one number: the time (ms since 1970) at which work began; 0 before. */
  readonly begun: Float64Array;
}

/** Runs a task in a thread of the pool. */
export async function work({ begun, ...task }: ThreadTask): Promise<readonly PoolAnswer[]> {
  begun[0] = Date.now();
  return answerTask(task);
}
