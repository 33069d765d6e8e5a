/** Looked up once: where code runs in a context of its own, as in tests, globals are slow to come by. */
const { imul } = Math;
/** Longer pieces are rare and each a different one: not worth remembering. */
const LONGEST = 48;
const MOST_PIECES = 50_000;
const MOST_UNITS = 600_000;
/** A power of two, several times as many as there are pieces. */
const SLOTS = 1 << 18;
/** Pieces made to fall on one slot are counted anew each time, which costs less than a long search. */
const MOST_PROBES = 16;

/**
 * Tokens of pieces seen before. Words repeat, so this answers for nearly all of them; and it takes a piece by its place in
 * a text, which a Map can't: cutting the piece out costs several times as much as finding it here.
 */
export class TokenTable {
  /** Number of a piece plus one; 0 for a free slot. */
  readonly #slots = new Int32Array(SLOTS);
  readonly #hashes = new Int32Array(MOST_PIECES);
  readonly #starts = new Int32Array(MOST_PIECES);
  readonly #lengths = new Uint8Array(MOST_PIECES);
  readonly #tokens = new Uint8Array(MOST_PIECES);
  /** UTF-16 units of all pieces, one after the other. */
  readonly #units = new Uint16Array(MOST_UNITS);
  #pieces = 0;
  #end = 0;

  /**
   * Tokens of `text.slice(start, end)`.
   * @param count counts them where they are not known; at most a token a byte
   */
  tokensOf(text: string, start: number, end: number, count: (piece: string) => number): number {
    const length = end - start;
    if (length > LONGEST) return count(text.slice(start, end));
    let hash = length;
    for (let at = start; at < end; at++) hash = imul(hash ^ text.charCodeAt(at), 0x01000193);
    hash ^= hash >>> 15;
    let slot = hash & (SLOTS - 1);
    for (let probe = 0; probe < MOST_PROBES; probe++) {
      const piece = (this.#slots[slot] ?? 0) - 1;
      if (piece === -1) {
        const tokens = count(text.slice(start, end));
        this.#remember(text, start, length, hash, slot, tokens);
        return tokens;
      }
      if (this.#hashes[piece] === hash && this.#holds(piece, text, start, length)) return this.#tokens[piece] ?? 0;
      slot = (slot + 1) & (SLOTS - 1);
    }
    return count(text.slice(start, end));
  }

  #holds(piece: number, text: string, start: number, length: number): boolean {
    if (this.#lengths[piece] !== length) return false;
    const from = this.#starts[piece] ?? 0;
    for (let at = 0; at < length; at++) if (this.#units[from + at] !== text.charCodeAt(start + at)) return false;
    return true;
  }

  #remember(text: string, start: number, length: number, hash: number, slot: number, tokens: number): void {
    if (this.#pieces === MOST_PIECES || this.#end + length > MOST_UNITS) {
      this.#slots.fill(0);
      this.#pieces = 0;
      this.#end = 0;
    }
    const piece = this.#pieces++;
    this.#slots[slot] = piece + 1;
    this.#hashes[piece] = hash;
    this.#starts[piece] = this.#end;
    this.#lengths[piece] = length;
    this.#tokens[piece] = tokens;
    for (let at = 0; at < length; at++) this.#units[this.#end++] = text.charCodeAt(start + at);
  }
}
