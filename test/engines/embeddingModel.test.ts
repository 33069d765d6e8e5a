import { expect, test } from '@jest/globals';

import { run } from '../../engines/run.js';
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
