import { isAscii, mergeBytes, toByteString } from './bytePairs.js';
import { PreTokens } from './preTokens.js';

/** Read once: in a separate context, as in tests, access to globals is slow. */
const { imul } = Math;
/** Maximum length of a cached pre-token: longer ones rarely repeat. */
const MAX_PRE_TOKEN_LENGTH = 48;
const MAX_PRE_TOKENS = 40_000;
const MAX_UNITS = 600_000;
/** Number of slots: a power of two. */
const SLOT_COUNT = 1 << 16;
/** Maximum number of probes. A pre-token that finds no slot is not cached: counting is cheaper than a long search. */
const MAX_PROBES = 16;
/**
 * The numbers of a slot: the hash, where its units start, and its length, with the number of tokens in the low byte. A
 * free slot has the length 0. They are next to each other, so that a lookup reads few lines of the processor's cache.
 */
const HASH = 0;
const START = 1;
const SIZES = 2;
/** A slot has four numbers, of which the last is not used. */
const SLOT_SHIFT = 2;

/**
 * A cache of the token counts of pre-tokens. Words repeat, so most pre-tokens are found. A pre-token is looked up by
 * its units, which a Map cannot do: a string for each would cost several times as much as the lookup. The arrays are
 * constants of this file, because compiled code reads those faster than fields of an object.
 */
const slots = new Int32Array(SLOT_COUNT << SLOT_SHIFT);
/** UTF-16 units of all cached pre-tokens, concatenated. */
const cachedUnits = new Uint16Array(MAX_UNITS);
let cachedPreTokens = 0;
let cachedEnd = 0;

/** Counts the cl100k tokens of a text. Special tokens in it (`<|endoftext|>`) count as ordinary text. */
export function countTokens(text: string): number {
  let tokens = 0;
  const preTokens = new PreTokens(text);
  while (preTokens.next()) tokens += countPreToken(preTokens);
  return tokens;
}

/** Counts the tokens of the current pre-token. */
export function countPreToken({ text, start, end, units, copiedFrom }: PreTokens): number {
  const length = end - start;
  if (length > MAX_PRE_TOKEN_LENGTH) return countMerged(text.slice(start, end));
  const from = start - copiedFrom;
  let hash = length;
  for (let at = from; at < from + length; at++) hash = imul(hash ^ (units[at] ?? 0), 0x01000193);
  hash ^= hash >>> 15;
  for (let probe = 0; probe < MAX_PROBES; probe++) {
    const slot = slotOf(hash + probe);
    const sizes = slots[slot + SIZES] ?? 0;
    if (sizes === 0) {
      // At most one token per byte, so the number fits in a byte.
      const tokens = countMerged(text.slice(start, end));
      cache(slot, hash, units.subarray(from, from + length), tokens);
      return tokens;
    }
    if (slots[slot + HASH] === hash && sizes >> 8 === length && holds(slots[slot + START] ?? 0, units, from, length))
      return sizes & 0xff;
  }
  return countMerged(text.slice(start, end));
}

const slotOf = (hash: number): number => (hash & (SLOT_COUNT - 1)) << SLOT_SHIFT;

const countMerged = (preToken: string): number =>
  mergeBytes(isAscii(preToken) ? preToken : toByteString(preToken)).length;

/** Whether the cached units at `start` are those of the pre-token. */
function holds(start: number, units: Uint16Array, from: number, length: number): boolean {
  for (let at = 0; at < length; at++) if (cachedUnits[start + at] !== units[from + at]) return false;
  return true;
}

function cache(freeSlot: number, hash: number, units: Uint16Array, tokens: number): void {
  let slot = freeSlot;
  if (cachedPreTokens === MAX_PRE_TOKENS || cachedEnd + units.length > MAX_UNITS) {
    slots.fill(0);
    cachedPreTokens = 0;
    cachedEnd = 0;
    slot = slotOf(hash);
  }
  slots[slot + HASH] = hash;
  slots[slot + START] = cachedEnd;
  slots[slot + SIZES] = (units.length << 8) | tokens;
  cachedUnits.set(units, cachedEnd);
  cachedEnd += units.length;
  cachedPreTokens += 1;
}
