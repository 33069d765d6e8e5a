/** Sets up a whole test run: real engines on free ports with their own data folder, and the embedding model. */
import { rm } from 'node:fs/promises';

import { ensureEmbeddingModel } from '../../engines/embeddingModel.js';
import { startEngines } from '../../engines/start.js';
import { compile } from '../../scripts/child.js';
import { publishEngines } from './engines.js';
import { newEngineFolder } from './scratch.js';

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** Compiles the service, starts the engines and publishes their addresses. `stop` ends them and removes their data. */
export async function startTestRun(): Promise<{ stop(): Promise<void> }> {
  const dataDir = await newEngineFolder('test');
  const onProgress = (line: string) => process.stderr.write(`${line}\n`);
  const compiling = compile();
  const engines = await startEngines({
    dataDir,
    need: { temporal: true, mongodb: true, qdrant: true },
    ports: 'free',
    onProgress,
    onCrash: (engine, how) => onProgress(`${engine} ${how}; its log was in ${dataDir}/logs`),
  });
  await compiling;
  publishEngines(engines, await ensureEmbeddingModel(engines.venv, { onProgress }), dataDir);
  return {
    async stop() {
      const processes = [engines.temporal, engines.mongodb, engines.qdrant].flatMap((engine) => engine ?? []);
      await engines.stop();
      const stillRunning = processes.filter(({ pid }) => pid !== undefined && isRunning(pid)).map(({ name }) => name);
      if (stillRunning.length > 0) throw new Error(`engines still run after stop(): ${stillRunning.join(', ')}`);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
