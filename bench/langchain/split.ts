/** LangChain's splitters, the baselines of our chunker in `bench:documents`. */
import { RecursiveCharacterTextSplitter, TokenTextSplitter } from '@langchain/textsplitters';
import { countTokens, decode, encode } from 'gpt-tokenizer/encoding/cl100k_base';
import { getEncoding } from 'js-tiktoken';

import { type SplitOptions, splitIterations } from '../splitIterations.js';

const tiktoken = getEncoding('cl100k_base');
const LENGTH = {
  'gpt-tokenizer': (text: string) => countTokens(text),
  'js-tiktoken': (text: string) => tiktoken.encode(text, [], []).length,
};

const TOKENIZERS = {
  'gpt-tokenizer': { encode: (text: string) => encode(text), decode: (tokens: number[]) => decode(tokens) },
  'js-tiktoken': {
    encode: (text: string) => tiktoken.encode(text, [], []),
    decode: (tokens: number[]) => tiktoken.decode(tokens),
  },
};

/** A TokenTextSplitter that does not download js-tiktoken's vocabulary: its tokenizer field is set instead. */
class OfflineTokenTextSplitter extends TokenTextSplitter {
  constructor(tokenizer: keyof typeof TOKENIZERS, sizes: { chunkSize: number; chunkOverlap: number }) {
    super({ ...sizes, encodingName: 'cl100k_base' });
    Object.assign(this, { tokenizer: TOKENIZERS[tokenizer] });
  }
}

function splitterOf({ splitter, tokenizer, chunkSize, chunkOverlap }: SplitOptions) {
  const sizes = { chunkSize, chunkOverlap };
  if (tokenizer === 'own') throw new Error('LangChain has no tokenizer of its own');
  if (splitter === 'RecursiveCharacterTextSplitter')
    return new RecursiveCharacterTextSplitter({ ...sizes, lengthFunction: LENGTH[tokenizer] });
  return new OfflineTokenTextSplitter(tokenizer, sizes);
}

await splitIterations((text, options) => splitterOf(options).splitText(text));
