import { Piscina } from 'piscina';

import { Fault } from '../contract/failures.js';
import type { PoolAnswer, PoolTask } from './poolThread.js';
import type { DocumentLimits, DocumentPool } from './types.js';

export interface PoolSettings {
  readonly threads: number;
  readonly timeoutMs: number;
  readonly memoryMb: number;
  readonly limits: DocumentLimits;
}

const ts = import.meta.url.endsWith('.ts');

/** On Node 20 a worker thread does not take tsx by its name: it is registered from a module of one line. */
const withTsx = (): string[] => [
  '--import',
  `data:text/javascript,import { register } from '${import.meta.resolve('tsx/esm/api')}'; register();`,
];

const limitFault = (name: string, what: string): Fault =>
  new Fault('parse_limit', `${name} could not be read within ${what}. It is too large or made to be slow; leave it out.`);

/** Starts the pool; threads come with the first work. */
export function createDocumentPool({ threads, timeoutMs, memoryMb, limits }: PoolSettings): DocumentPool {
  const pool = new Piscina<PoolTask, PoolAnswer>({
    filename: new URL(`./poolThread.${ts ? 'ts' : 'js'}`, import.meta.url).href,
    name: 'work',
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: 60_000,
    concurrentTasksPerWorker: 1,
    execArgv: ts ? withTsx() : [],
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
  });
  pool.on('error', () => undefined);
  return {
    async process(input, chunking, signal) {
      signal?.throwIfAborted();
      const hung = AbortSignal.timeout(timeoutMs);
      const ended = signal ? AbortSignal.any([signal, hung]) : hung;
      let answer: PoolAnswer;
      try {
        answer = await pool.run({ input, chunking, limits }, { signal: ended });
      } catch (error) {
        signal?.throwIfAborted();
        if (hung.aborted) throw limitFault(input.name, `${timeoutMs / 1000} s (setting PARSE_TIMEOUT_MS)`);
        const memory = typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
        if (memory) throw limitFault(input.name, `${memoryMb} MB (setting PARSE_MEMORY_MB)`);
        throw error;
      }
      if ('fault' in answer) throw new Fault(answer.fault.kind, answer.fault.message);
      return answer.document;
    },
    close: () => pool.destroy(),
  };
}
