import { expect, test } from '@jest/globals';
import { loadTokenizer } from '../../../providers/embeddings/providers/localTokenizer.js';
import { modelFiles } from './modelFiles.js';

test("word pieces are those of the model's own vocabulary", async () => {
  const tokenizer = await loadTokenizer(modelFiles.tokenizerPath);
  expect([...tokenizer.frame(tokenizer.tokenize('hello world'))]).toEqual([101n, 7592n, 2088n, 102n]);
  // Case and accents are dropped, an unknown word is cut into pieces; ids as the reference implementation (Python tokenizers 0.23) gives them.
  expect(tokenizer.tokenize('Café naïve unaffable')).toEqual([7668, 15743, 14477, 20961, 3468]);
});

test("neither the file's truncation nor its padding to 128 is applied", async () => {
  const tokenizer = await loadTokenizer(modelFiles.tokenizerPath);
  expect(tokenizer.tokenize('river '.repeat(1_000))).toHaveLength(1_000);
  expect(tokenizer.tokenize(' \n\t')).toEqual([]);
});
