import { getPriority, setPriority } from 'node:os';
import { dirname } from 'node:path';
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { EMBEDDED_SPACE } from '../../../contract/vectors/spaces.js';
import type { EmbeddingProvider } from '../types.js';
import { WINDOW_PIECES } from './localWindows.js';
import type { LocalModelFiles } from './localModel.js';
import { createLocalPool } from './localPool.js';
import { joinSentences, sentencesOfQuery } from './sentencesOfQuery.js';

export interface LocalSettings extends LocalModelFiles {
  /**
   * Number of texts that are embedded in parallel. Each uses a process with one busy thread and its own copy of the
   * model. Long queries use one more process, which ends when idle.
   */
  readonly threads: number;
  /** Niceness of these processes relative to this one, 0 to 19. Default 0. */
  readonly niceness?: number;
  /**
   * Name of the vector space. Set it only for another model of the same size: vectors of two models must not share a
   * space.
   */
  readonly spaceName?: string;
}

/**
 * Niceness of the process for long queries relative to the other processes. Each step divides the share of processor
 * time by about 1.25 (https://man7.org/linux/man-pages/man7/sched.7.html, "The nice value"). With 10, the process gets
 * about a tenth of a core while a short query uses that core, and all of it otherwise.
 */
const LONG_QUERY_NICENESS = 10;

/** Name of the embedded model in the list of served models, and its window in word pieces. */
export const LOCAL_MODEL = { upstream: 'all-MiniLM-L6-v2', window: WINDOW_PIECES };

/**
 * Creates the provider of the embedded model, all-MiniLM-L6-v2, in separate processes. `prepare` or the first call
 * loads the model.
 */
export function createLocalProvider({ threads, niceness = 0, spaceName, ...files }: LocalSettings): EmbeddingProvider {
  const pool = createLocalPool({
    size: threads,
    startProcess: () => startLocalProcess(files, niceness),
    startLongQueryProcess: () => startLocalProcess(files, niceness + LONG_QUERY_NICENESS),
  });
  return {
    space: { ...EMBEDDED_SPACE, name: spaceName ?? EMBEDDED_SPACE.name },
    prepare: pool.prepare,
    async embed(texts, purpose, signal, fairnessKey) {
      if (purpose === 'document') return pool.embed(texts, purpose, signal, fairnessKey);
      const sentences = texts.map(sentencesOfQuery);
      const vectors = await pool.embed([...texts, ...sentences.flat()], purpose, signal, fairnessKey);
      let nextVector = texts.length;
      return sentences.map((sentencesOfText, index) => {
        const queryVector = vectors[index];
        if (!queryVector) throw new Error(`no vector for text ${index}`);
        return sentencesOfText.length === 0
          ? queryVector
          : joinSentences(queryVector, vectors.slice(nextVector, (nextVector += sentencesOfText.length)));
      });
    },
    close: pool.close,
  };
}

/**
 * Starts a process that loads the model. A worker thread is not possible: onnxruntime-node aborts the whole process
 * when a thread is terminated, or the process exits, while the model runs ("terminate called after throwing
 * Napi::Error").
 */
export function startLocalProcess({ modelPath, tokenizerPath }: LocalModelFiles, niceness = 0): ChildProcess {
  const fromSource = import.meta.url.endsWith('.ts');
  const entry = new URL(fromSource ? './localProcess.ts' : './localProcess.js', import.meta.url);
  const child = fork(fileURLToPath(entry), [modelPath, tokenizerPath], {
    // Do not inherit the parent's flags: those of Jest, for example, do not work here.
    execArgv: fromSource ? ['--import', import.meta.resolve('tsx')] : [],
    // Transfers vectors as Float32Array.
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // Only the variables that a program needs: no secrets, and no telemetry of the runtime, which would bypass egress/.
    env: { PATH: dirname(process.execPath), ORT_DISABLE_TELEMETRY: '1' },
  });
  try {
    // Set it before the process starts threads: they inherit it.
    if (child.pid !== undefined && niceness > 0) setPriority(child.pid, Math.min(19, getPriority() + niceness));
  } catch {
    // The process has ended, or the system does not allow it: it keeps the priority of this process.
  }
  return child;
}
