import type { SparseVector } from '../../../contract/vectors/sparseVectors.js';
import {
  addEvidence,
  type Evidence,
  hasVietnameseLetter,
  languageOfChunk,
  languagesOfQuery,
} from './detectLanguage.js';
import { prefixTermOf, EXTRA_WEIGHT, pairsOf, SYLLABIC } from './extraTerms.js';
import { isFunctionWord, type Language } from './functionWords.js';
import { hashTerm } from './hashTerm.js';
import { splitWords, tokensOf } from './splitWords.js';
import { formsOf, stemWord } from './stemWord.js';

/**
 * Parameters of Okapi BM25 for the part that depends on one text: saturation of a term's frequency (k1) and
 * normalisation by the text's length (b). Lucene and Qdrant's own BM25 model use the same values. Qdrant computes the
 * part that depends on all texts of the tenant, the rarity of a term (`modifier: idf`).
 */
const K1 = 1.2;
const B = 0.75;
/**
 * Assumed average number of words, as in Qdrant's BM25 model (fastembed's Bm25, `avg_len`): the true average changes
 * with every file.
 */
const AVERAGE_WORDS = 256;

/** Maximum number of cached tokens (parts of a text without spaces); most words repeat. */
const MAX_CACHED = 32_768;
/** Maximum length of a cached token; longer ones rarely repeat. */
const MAX_CACHED_LENGTH = 32;

/** A split token with the hashes of its characters and terms. */
interface SplitToken {
  readonly terms: readonly string[];
  readonly characters: readonly number[];
  readonly count: number;
  readonly isVietnamese: boolean;
  /** The hashes of the stemmed terms and of their prefixes, by language of the text. */
  readonly hashes: Map<Language | null, readonly number[]>;
}

const cache = new Map<string, SplitToken>();

function split(token: string): SplitToken {
  const cached = cache.get(token);
  if (cached) return cached;
  const { terms, characters, count } = splitWords(token);
  const isVietnamese = hasVietnameseLetter(token);
  const newToken = { terms, characters: characters.map(hashTerm), count, isVietnamese, hashes: new Map() };
  if (token.length <= MAX_CACHED_LENGTH) {
    if (cache.size === MAX_CACHED) cache.clear();
    cache.set(token, newToken);
  }
  return newToken;
}

function hashesOf({ terms, hashes }: SplitToken, language: Language | null): readonly number[] {
  let termHashes = hashes.get(language);
  if (!termHashes) {
    const prefixes = terms.flatMap((term) => prefixTermOf(term, language) ?? []);
    termHashes = [...terms.map((term) => stemWord(term, language)), ...prefixes].map(hashTerm);
    hashes.set(language, termHashes);
  }
  return termHashes;
}

/** Rounds a weight, because weights are written as JSON and more digits change no result. */
const rounded = (weight: number): number => Math.round(weight * 10_000) / 10_000;

/**
 * Returns the terms of a text with their weights; null for a text without terms. Raise SPARSE_VERSION
 * with any change of this result.
 */
export function encodeDocument(text: string): SparseVector | null {
  const tokens: SplitToken[] = [];
  const evidence: Evidence = new Map();
  let length = 0;
  for (const token of tokensOf(text)) {
    const splitToken = split(token);
    tokens.push(splitToken);
    addEvidence(evidence, splitToken.terms, splitToken.isVietnamese);
    length += splitToken.count;
  }
  const language = languageOfChunk(evidence, length);
  const frequencies = new Map<number, number>();
  const add = (term: number): unknown => frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
  for (const token of tokens) {
    hashesOf(token, language).forEach(add);
    token.characters.forEach(add);
  }
  if (language === SYLLABIC) pairsOf(tokens).map(hashTerm).forEach(add);
  if (frequencies.size === 0) return null;
  const saturation = K1 * (1 - B + (B * length) / AVERAGE_WORDS);
  const weights = [...frequencies.values()].map((frequency) =>
    rounded((frequency * (K1 + 1)) / (frequency + saturation)),
  );
  return { indices: [...frequencies.keys()], values: weights };
}

/**
 * Returns the terms of a query, weighted by how often it contains them, in the forms of all languages that it may have.
 * Words like "how" and "the" are dropped, unless there are no others. Prefixes and pairs of words weigh less. Null for
 * a query without terms.
 */
export function encodeQuery(text: string): SparseVector | null {
  // Each token is split once: Thai is one token, and finding the words of 32,000 characters takes 60 ms.
  const tokens: { readonly text: string; readonly terms: readonly string[] }[] = [];
  const evidence: Evidence = new Map();
  let words = 0;
  for (const token of tokensOf(text)) {
    const { terms, count, isVietnamese } = split(token);
    tokens.push({ text: token, terms });
    addEvidence(evidence, terms, isVietnamese);
    words += count;
  }
  const { possible, clear } = languagesOfQuery(evidence, words);
  const meaningful = tokens.filter((token) => !isFunctionWord(token.text, clear ?? 'en'));
  const weights = new Map<number, number>();
  const add = (term: string, weight: number): void => {
    const hash = hashTerm(term);
    weights.set(hash, (weights.get(hash) ?? 0) + weight);
  };
  for (const { terms } of meaningful.length > 0 ? meaningful : tokens)
    for (const word of terms) {
      for (const form of formsOf(word, possible)) add(form, 1);
      for (const prefix of new Set(possible.flatMap((language) => prefixTermOf(word, language) ?? [])))
        add(prefix, EXTRA_WEIGHT.prefix);
    }
  if (possible.includes(SYLLABIC)) for (const pair of pairsOf(tokens)) add(pair, EXTRA_WEIGHT.pair);
  return weights.size === 0 ? null : { indices: [...weights.keys()], values: [...weights.values()].map(rounded) };
}
