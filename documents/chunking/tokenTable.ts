/** Read once: in a separate context, as in tests, access to globals is slow. */
const { imul } = Math;
/** Maximum length of a cached pre-token: longer ones rarely repeat. */
const MAX_PRE_TOKEN_LENGTH = 48;
const MAX_PRE_TOKENS = 50_000;
const MAX_UNITS = 600_000;
/** Number of slots: a power of two, several times the maximum number of pre-tokens. */
const SLOT_COUNT = 1 << 18;
/** Maximum number of probes. Pre-tokens crafted to collide are counted each time: cheaper than a long search. */
const MAX_PROBES = 16;

/** A counted pre-token of text: the hash that finds it, its slot, and its number of tokens. */
interface Counted {
  readonly hash: number;
  readonly slot: number;
  readonly tokens: number;
}

/**
 * A cache of the token counts of pre-tokens. Words repeat, so most pre-tokens are found. A pre-token is looked up by
 * its position in a text, which a Map cannot do: slicing it would cost several times as much as the lookup.
 */
export class TokenTable {
  /** Number of a pre-token plus one; 0 for a free slot. */
  readonly #slots = new Int32Array(SLOT_COUNT);
  readonly #hashes = new Int32Array(MAX_PRE_TOKENS);
  readonly #starts = new Int32Array(MAX_PRE_TOKENS);
  readonly #lengths = new Uint8Array(MAX_PRE_TOKENS);
  readonly #tokens = new Uint8Array(MAX_PRE_TOKENS);
  /** UTF-16 units of all pre-tokens, concatenated. */
  readonly #units = new Uint16Array(MAX_UNITS);
  #preTokens = 0;
  #end = 0;

  /**
   * Returns the number of tokens of `text.slice(start, end)`.
   * @param count counts the tokens of an unknown pre-token; at most one per byte
   */
  tokensOf(text: string, start: number, end: number, count: (preToken: string) => number): number {
    const length = end - start;
    if (length > MAX_PRE_TOKEN_LENGTH) return count(text.slice(start, end));
    let hash = length;
    for (let at = start; at < end; at++) hash = imul(hash ^ text.charCodeAt(at), 0x01000193);
    hash ^= hash >>> 15;
    let slot = hash & (SLOT_COUNT - 1);
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const preToken = (this.#slots[slot] ?? 0) - 1;
      if (preToken === -1) {
        const tokens = count(text.slice(start, end));
        this.#remember(text, start, length, { hash, slot, tokens });
        return tokens;
      }
      if (this.#hashes[preToken] === hash && this.#holds(preToken, text, start, length))
        return this.#tokens[preToken] ?? 0;
      slot = (slot + 1) & (SLOT_COUNT - 1);
    }
    return count(text.slice(start, end));
  }

  #holds(preToken: number, text: string, start: number, length: number): boolean {
    if (this.#lengths[preToken] !== length) return false;
    const from = this.#starts[preToken] ?? 0;
    for (let at = 0; at < length; at++) if (this.#units[from + at] !== text.charCodeAt(start + at)) return false;
    return true;
  }

  #remember(text: string, start: number, length: number, { hash, slot, tokens }: Counted): void {
    if (this.#preTokens === MAX_PRE_TOKENS || this.#end + length > MAX_UNITS) {
      this.#slots.fill(0);
      this.#preTokens = 0;
      this.#end = 0;
    }
    const preToken = this.#preTokens++;
    this.#slots[slot] = preToken + 1;
    this.#hashes[preToken] = hash;
    this.#starts[preToken] = this.#end;
    this.#lengths[preToken] = length;
    this.#tokens[preToken] = tokens;
    for (let at = 0; at < length; at++) this.#units[this.#end++] = text.charCodeAt(start + at);
  }
}
