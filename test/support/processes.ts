import { type SupervisedChild, superviseChild } from '../../scripts/child.js';

/** Starts a process of the service under the settings of a test service. */
export function startProcess(module: 'api/server' | 'worker/main', env: NodeJS.ProcessEnv): Promise<SupervisedChild> {
  return superviseChild({ module, env, restart: false });
}
