import { type SupervisedChild, superviseChild } from '../../scripts/child.js';

/**
 * Starts a process of the service, compiled at the start of the test run, under the settings of a test service.
 * @param restart whether it is started again whenever it dies, as a supervisor would
 */
export function startProcess(
  module: 'api/server' | 'worker/main',
  env: NodeJS.ProcessEnv,
  restart = false,
): Promise<SupervisedChild> {
  return superviseChild({ module, env, restart, compile: false });
}
