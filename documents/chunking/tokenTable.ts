/** Read once: in a separate context, as in tests, access to globals is slow. */
const { imul } = Math;
/** Maximum length of a cached piece: longer ones rarely repeat. */
const MAX_PIECE_LENGTH = 48;
const MAX_PIECES = 50_000;
const MAX_UNITS = 600_000;
/** A power of two, several times the maximum number of pieces. */
const SLOTS = 1 << 18;
/** Maximum number of probes. Pieces crafted to collide are counted each time, which costs less than a long search. */
const MAX_PROBES = 16;

/** A counted piece of text: the hash that finds it, its slot, and its number of tokens. */
interface Counted {
  readonly hash: number;
  readonly slot: number;
  readonly tokens: number;
}

/**
 * A cache of the token counts of pieces. Words repeat, so most pieces are found. A piece is looked up by its position
 * in a text, which a Map cannot do: slicing it would cost several times as much as the lookup.
 */
export class TokenTable {
  /** Number of a piece plus one; 0 for a free slot. */
  readonly #slots = new Int32Array(SLOTS);
  readonly #hashes = new Int32Array(MAX_PIECES);
  readonly #starts = new Int32Array(MAX_PIECES);
  readonly #lengths = new Uint8Array(MAX_PIECES);
  readonly #tokens = new Uint8Array(MAX_PIECES);
  /** UTF-16 units of all pieces, concatenated. */
  readonly #units = new Uint16Array(MAX_UNITS);
  #pieces = 0;
  #end = 0;

  /**
   * Returns the number of tokens of `text.slice(start, end)`.
   * @param count counts the tokens of an unknown piece; at most one per byte
   */
  tokensOf(text: string, start: number, end: number, count: (piece: string) => number): number {
    const length = end - start;
    if (length > MAX_PIECE_LENGTH) return count(text.slice(start, end));
    let hash = length;
    for (let at = start; at < end; at++) hash = imul(hash ^ text.charCodeAt(at), 0x01000193);
    hash ^= hash >>> 15;
    let slot = hash & (SLOTS - 1);
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const piece = (this.#slots[slot] ?? 0) - 1;
      if (piece === -1) {
        const tokens = count(text.slice(start, end));
        this.#remember(text, start, length, { hash, slot, tokens });
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

  #remember(text: string, start: number, length: number, { hash, slot, tokens }: Counted): void {
    if (this.#pieces === MAX_PIECES || this.#end + length > MAX_UNITS) {
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
