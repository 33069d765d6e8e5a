/** Starts processes that call sources with the credentials of accounts. The processes share only the stores. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import type { IdentifyResults, IdentifyCalls } from './accountCallerChild.js';

const CHILD = fileURLToPath(new URL('accountCallerChild.ts', import.meta.url));

export interface AccountCaller {
  /**
   * Identifies an account at its source as often as `calls.calls` says, concurrently. Await the result before you call
   * this again: results are not matched to calls.
   */
  identify(calls: IdentifyCalls): Promise<IdentifyResults>;
  /** Kills the process with SIGKILL. */
  kill(): Promise<void>;
}

/** Starts a process. @param env the settings of a service @throws if the process ends before it is ready */
export async function startAccountCaller(env: NodeJS.ProcessEnv): Promise<AccountCaller> {
  const child = fork(CHILD, { env, execArgv: ['--import', 'tsx'], stdio: 'inherit' });
  const [message] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [unknown];
  if (message !== 'ready') throw new Error('accountCallerChild.ts did not start; see its output above');
  return {
    async identify(calls) {
      const reply = once(child, 'message');
      child.send(calls);
      return ((await reply) as [IdentifyResults])[0];
    },
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
