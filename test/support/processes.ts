import { type SupervisedChild, superviseChild } from '../../scripts/child.js';

/**
 * Starts a process of the service with the settings of a test service. The code was compiled at the start of the test
 * run.
 * @param restart whether the process is restarted whenever it exits
 */
export function startProcess(
  module: 'api/server' | 'worker/main',
  env: NodeJS.ProcessEnv,
  restart = false,
): Promise<SupervisedChild> {
  return superviseChild({ module, env, restart, compile: false });
}
