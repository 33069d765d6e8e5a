/** Processes that call connected accounts; they share only the stores with each other. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import type { CallsMade, CallsToMake } from './accountCallerChild.js';

const CHILD = fileURLToPath(new URL('accountCallerChild.ts', import.meta.url));

export interface AccountCaller {
  /** Sends calls concurrently and returns their results. Wait for them before the next `ask`. */
  ask(calls: CallsToMake): Promise<CallsMade>;
  /** Kills the process with SIGKILL. */
  kill(): Promise<void>;
}

/** Starts a process. @param env the settings of a service */
export async function startAccountCaller(env: NodeJS.ProcessEnv): Promise<AccountCaller> {
  const child = fork(CHILD, { env, execArgv: ['--import', 'tsx'], stdio: 'inherit' });
  const [first] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [unknown];
  if (first !== 'ready') throw new Error('A caller of accounts did not start; its message is above');
  return {
    async ask(calls) {
      const reply = once(child, 'message');
      child.send(calls);
      return ((await reply) as [CallsMade])[0];
    },
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
