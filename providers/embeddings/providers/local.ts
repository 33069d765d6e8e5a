import { getPriority, setPriority } from 'node:os';
import { dirname } from 'node:path';
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { EmbeddingProvider } from '../types.js';
import { WINDOW_PIECES } from './localWindows.js';
import type { LocalModelFiles } from './localModel.js';
import { createLocalPool } from './localPool.js';

export interface LocalSettings extends LocalModelFiles {
  /**
   * How many texts are embedded at once. Each has a process with one busy thread and a copy of the model of its own.
   * Long queries have one more, which ends when none come.
   */
  readonly threads: number;
  /** How far these processes are behind this one in priority, as nice(1) counts; 0 to 19. Default 0. */
  readonly niceness?: number;
  /** Only for another model of the same size: vectors of two models never share a space. */
  readonly spaceName?: string;
}

/** The space that the embedded model fills. */
export const EMBEDDED_SPACE = { name: 'minilm-l6-v2-384', dimensions: 384 };

/**
 * How far the process for long queries is behind the others in priority. Linux weighs each step by 1.25
 * (https://man7.org/linux/man-pages/man7/sched.7.html, "The nice value"), so at 10 it gets a tenth of a core that a
 * short query needs, and all of it while none is there.
 */
const LONG_QUERY_NICENESS = 10;

/** The embedded model as it is listed: its name, and how many word pieces it reads at once. */
export const LOCAL_MODEL = { upstream: 'all-MiniLM-L6-v2', window: WINDOW_PIECES };

/** The embedded model, all-MiniLM-L6-v2, in processes of its own. It is loaded by `prepare`, or the first call. */
export function createLocalProvider({ threads, niceness = 0, spaceName, ...files }: LocalSettings): EmbeddingProvider {
  const pool = createLocalPool({
    size: threads,
    startProcess: () => startLocalProcess(files, niceness),
    startLongQueryProcess: () => startLocalProcess(files, niceness + LONG_QUERY_NICENESS),
  });
  return {
    space: { ...EMBEDDED_SPACE, name: spaceName ?? EMBEDDED_SPACE.name },
    prepare: pool.prepare,
    embed: pool.embed,
    close: pool.close,
  };
}

/**
 * Starts one process that loads the model. Not a worker thread: onnxruntime-node aborts its whole process when a
 * thread is terminated, or the process exits, while the model runs ("terminate called after throwing Napi::Error").
 */
export function startLocalProcess({ modelPath, tokenizerPath }: LocalModelFiles, niceness = 0): ChildProcess {
  const fromSource = import.meta.url.endsWith('.ts');
  const entry = new URL(fromSource ? './localProcess.ts' : './localProcess.js', import.meta.url);
  const child = fork(fileURLToPath(entry), [modelPath, tokenizerPath], {
    // Never the parent's own flags: Jest's, for one, do not suit it.
    execArgv: fromSource ? ['--import', import.meta.resolve('tsx')] : [],
    // So that vectors cross as Float32Array.
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // Only what a program needs to run: no secret of ours, and the runtime must not report home past egress/.
    env: { PATH: dirname(process.execPath), ORT_DISABLE_TELEMETRY: '1' },
  });
  try {
    // Its threads inherit it: the process has none yet that loads the model.
    if (child.pid !== undefined && niceness > 0) setPriority(child.pid, Math.min(19, getPriority() + niceness));
  } catch {
    // The process has ended, or the system refuses: it runs at the priority of this one.
  }
  return child;
}
