import { readFile } from 'node:fs/promises';
import { Tokenizer } from '@huggingface/tokenizers';

export interface LocalTokenizer {
  /** Returns the ids of a text's word pieces; none for a text without words. */
  tokenize(text: string): number[];
  /** Returns the model's input for one window: the ids between [CLS] and [SEP]. */
  frame(window: readonly number[]): BigInt64Array<ArrayBuffer>;
}

/**
 * Loads a tokenizer.json. Its limits (padding, truncation) are not applied, because texts are cut into windows here.
 */
export async function loadTokenizer(path: string): Promise<LocalTokenizer> {
  const tokenizer = new Tokenizer(JSON.parse(await readFile(path, 'utf8')) as object, {});
  const [first, last] = tokenizer.encode('').ids;
  if (first === undefined || last === undefined) throw new Error(`${path} has no start and end tokens`);
  return {
    tokenize: (text) => tokenizer.encode(text, { add_special_tokens: false }).ids,
    frame: (window) => BigInt64Array.from([first, ...window, last], BigInt),
  };
}
