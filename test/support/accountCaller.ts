/** Processes that call connected accounts and share the stores, and nothing else. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import type { CallsMade, CallsToMake } from './accountCallerChild.js';

const CHILD = fileURLToPath(new URL('accountCallerChild.ts', import.meta.url));

export interface AccountCaller {
  /** Makes calls, all at once. One such question at a time. */
  ask(calls: CallsToMake): Promise<CallsMade>;
  /** Ends it with SIGKILL. */
  kill(): Promise<void>;
}

/** @param env the settings of a service */
export async function startAccountCaller(env: NodeJS.ProcessEnv): Promise<AccountCaller> {
  const child = fork(CHILD, { env, execArgv: ['--import', 'tsx'], stdio: 'inherit' });
  const [first] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [unknown];
  if (first !== 'ready') throw new Error('A caller of accounts did not start; its message is above');
  return {
    async ask(calls) {
      const answered = once(child, 'message');
      child.send(calls);
      return ((await answered) as [CallsMade])[0];
    },
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}
