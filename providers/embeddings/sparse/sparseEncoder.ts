import type { SparseVector } from '../../../contract/vectors/sparseVectors.js';
import { isFunctionWord } from './functionWords.js';
import { hashTerm } from './hashTerm.js';
import { splitWords, stretchesOf } from './splitWords.js';

/**
 * Parameters of Okapi BM25 for the part that depends on one text: saturation of a term's frequency (k1) and
 * normalisation by the text's length (b). Lucene and Qdrant's own BM25 model use the same values. Qdrant computes the
 * part that depends on all texts, the rarity of a term (`modifier: idf`).
 */
const K1 = 1.2;
const B = 0.75;
/**
 * Assumed average number of words, as in Qdrant's BM25 model (fastembed's Bm25, `avg_len`): the true average changes
 * with every file.
 */
const AVERAGE_WORDS = 256;

/** Maximum number of cached stretches (parts of a text without spaces); most words repeat. */
const REMEMBERED = 32_768;
/** Maximum length of a cached stretch; longer ones rarely repeat. */
const REMEMBERED_LENGTH = 32;

/** The terms of a stretch as numbers. */
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

/** Rounds a weight, because weights are written as JSON and more digits change no result. */
const rounded = (weight: number): number => Math.round(weight * 10_000) / 10_000;

/**
 * Returns the terms of a text with their weights; null for a text without terms. Raise SPARSE_VERSION
 * with any change of this result.
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
 * Returns the terms of a query, each once and with weight 1. Words like "how" and "the" are dropped, unless there are
 * no others. Null for a query without terms.
 */
export function encodeQuery(text: string): SparseVector | null {
  const stretches = [...stretchesOf(text)];
  const telling = stretches.filter((stretch) => !isFunctionWord(stretch));
  const indices = [...new Set((telling.length > 0 ? telling : stretches).flatMap((stretch) => hashed(stretch).terms))];
  return indices.length === 0 ? null : { indices, values: indices.map(() => 1) };
}
