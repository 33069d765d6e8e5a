import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';

import { ensureEmbeddingModel } from '../../engines/embeddingModel.js';
import { run } from '../../engines/run.js';
import type { Venv } from '../../engines/venv.js';
import { testEngines } from '../support/engines.js';

test('embeds texts of similar meaning close to each other', async () => {
  const { modelPath, tokenizerPath } = testEngines();
  const texts = ['a cat sits on the mat', 'a kitten rests on a rug', 'quarterly revenue rose by four percent'];
  const child = new URL('children/embedTexts.ts', import.meta.url).pathname;
  const output = await run(process.execPath, ['--import', 'tsx', child, modelPath, tokenizerPath, ...texts]);
  const [cat, kitten, revenue] = JSON.parse(output) as [number[], number[], number[]];
  const cosine = (a: number[], b: number[]) => a.reduce((sum, value, i) => sum + value * (b[i] ?? NaN), 0);
  expect(cat).toHaveLength(384);
  expect(cosine(cat, cat)).toBeCloseTo(1, 5);
  // The float32 weights give 0.660 and -0.013.
  expect(cosine(cat, kitten)).toBeCloseTo(0.66, 1);
  expect(cosine(cat, revenue)).toBeCloseTo(-0.01, 1);
});

/** Simulates a Python whose build of the model writes model.onnx and fails before tokenizer.json. */
const failingPython = (message: string) => `#!/bin/sh\necho half > "$2/model.onnx"\necho ${message} >&2\nexit 1\n`;
const PYTHON = '#!/bin/sh\necho "$3" > "$2/model.onnx"\necho tokens > "$2/tokenizer.json"\n';

test('uses a model only if its build succeeded, builds it once, and removes older ones', async () => {
  const enginesDir = await mkdtemp(path.join(tmpdir(), 'allotrope-model-'));
  const python = path.join(enginesDir, 'python');
  const ensure = (precision: 'int8' | 'fp32' = 'int8') =>
    ensureEmbeddingModel({ enginesDir, python } as Venv, { precision });
  const models = async () => (await readdir(path.join(enginesDir, 'models'))).map((name) => name.slice(0, -8));
  try {
    await mkdir(path.join(enginesDir, 'models/all-minilm-l6-v2-int8-00000000'), { recursive: true });
    await writeFile(python, failingPython('no space left'), { mode: 0o700 });
    await expect(ensure()).rejects.toThrow('no space left');
    await writeFile(python, PYTHON);
    const model = await ensure();
    expect(await readFile(model.modelPath, 'utf8')).toBe('int8\n');
    expect(await readFile((await ensure('fp32')).modelPath, 'utf8')).toBe('fp32\n');
    expect(await models()).toEqual(['all-minilm-l6-v2-fp32-', 'all-minilm-l6-v2-int8-']);
    await writeFile(python, failingPython('built again'));
    expect(await ensure()).toEqual(model);
  } finally {
    await rm(enginesDir, { recursive: true });
  }
});
