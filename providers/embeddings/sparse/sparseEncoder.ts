import type { SparseVector } from '../../../contract/sparseVectors.js';
import { isFunctionWord } from './functionWords.js';
import { hashTerm } from './hashTerm.js';
import { splitWords, stretchesOf } from './splitWords.js';

/**
 * Okapi BM25, its part that depends on one text: how often a term may count, and how far a long text is held against
 * its terms. k1 and b are those of Lucene, and of Qdrant's own BM25 model. The part that depends on all texts, how
 * rare a term is, Qdrant works out (`modifier: idf`).
 */
const K1 = 1.2;
const B = 0.75;
/** Words of an average text, as Qdrant's BM25 model takes it (fastembed's Bm25, `avg_len`): the true one changes with every file. */
const AVERAGE_WORDS = 256;

/** Stretches whose terms are remembered: words come again and again. */
const REMEMBERED = 32_768;
/** Longer ones seldom come twice. */
const REMEMBERED_LENGTH = 32;

/** What a stretch says, in numbers. */
interface Hashed {
  readonly terms: readonly number[];
  readonly characters: readonly number[];
  readonly count: number;
}

const known = new Map<string, Hashed>();

function hashed(stretch: string): Hashed {
  const before = known.get(stretch);
  if (before) return before;
  const { terms, characters, count } = splitWords(stretch);
  const fresh = { terms: terms.map(hashTerm), characters: characters.map(hashTerm), count };
  if (stretch.length <= REMEMBERED_LENGTH) {
    if (known.size === REMEMBERED) known.clear();
    known.set(stretch, fresh);
  }
  return fresh;
}

/** Weights are written as JSON: more digits than these decide nothing. */
const rounded = (weight: number): number => Math.round(weight * 10_000) / 10_000;

/**
 * A text as the terms it has, each with its weight in the text; null for one without any term. Whoever changes what comes
 * of a text raises SPARSE_VERSION.
 */
export function encodeDocument(text: string): SparseVector | null {
  const frequencies = new Map<number, number>();
  let length = 0;
  for (const stretch of stretchesOf(text)) {
    const { terms, characters, count } = hashed(stretch);
    length += count;
    for (const term of terms) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
    for (const character of characters) frequencies.set(character, (frequencies.get(character) ?? 0) + 1);
  }
  if (frequencies.size === 0) return null;
  const saturation = K1 * (1 - B + (B * length) / AVERAGE_WORDS);
  const weights = [...frequencies.values()].map((often) => rounded((often * (K1 + 1)) / (often + saturation)));
  return { indices: [...frequencies.keys()], values: weights };
}

/**
 * What a query asks for: its terms, each once and of weight 1. Words like "how" and "the" are left out, unless there are
 * no others. Null for a query without any term.
 */
export function encodeQuery(text: string): SparseVector | null {
  const stretches = [...stretchesOf(text)];
  const telling = stretches.filter((stretch) => !isFunctionWord(stretch));
  const indices = [...new Set((telling.length > 0 ? telling : stretches).flatMap((stretch) => hashed(stretch).terms))];
  return indices.length === 0 ? null : { indices, values: indices.map(() => 1) };
}
