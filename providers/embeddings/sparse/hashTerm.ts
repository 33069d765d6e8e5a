/** Returns the MurmurHash3 (x86, 32 bits, seed 0) of a term's UTF-8 bytes, which identifies the term in an index. */
export function hashTerm(term: string): number {
  const bytes = Buffer.from(term);
  const end = bytes.length & ~3;
  let hash = 0;
  for (let at = 0; at < end; at += 4) {
    hash ^= scrambled(bytes.readInt32LE(at));
    hash = Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64;
  }
  let lastBytes = 0;
  for (let at = bytes.length - 1; at >= end; at -= 1) lastBytes = (lastBytes << 8) | (bytes[at] ?? 0);
  if (end < bytes.length) hash ^= scrambled(lastBytes);
  hash ^= bytes.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function scrambled(word: number): number {
  const mixed = Math.imul(word, 0xcc9e2d51);
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
}
