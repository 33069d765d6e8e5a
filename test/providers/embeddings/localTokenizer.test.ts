import { expect, test } from '@jest/globals';
import { loadTokenizer } from '../../../providers/embeddings/providers/localTokenizer.js';
import { modelFiles } from './modelFiles.js';

test("splits a text into word pieces of the model's vocabulary", async () => {
  const tokenizer = await loadTokenizer(modelFiles.tokenizerPath);
  expect([...tokenizer.frame(tokenizer.tokenize('hello world'))]).toEqual([101n, 7592n, 2088n, 102n]);
  // Case and accents are removed, and an unknown word is split. The ids are those of Python tokenizers 0.23.
  expect(tokenizer.tokenize('Café naïve unaffable')).toEqual([7668, 15743, 14477, 20961, 3468]);
});

test("ignores the truncation and the padding to 128 in the model's file", async () => {
  const tokenizer = await loadTokenizer(modelFiles.tokenizerPath);
  expect(tokenizer.tokenize('river '.repeat(1_000))).toHaveLength(1_000);
  expect(tokenizer.tokenize(' \n\t')).toEqual([]);
});
