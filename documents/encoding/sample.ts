/** Maximum size of the sample in bytes. */
const MAX_SAMPLE = 4096;
/** Number of bytes at the start of the text in which words for the sample are searched. */
const MAX_SEARCHED = 256 * 1024;

/**
 * Returns the words of a text that contain bytes beyond ASCII, separated by spaces; markup is skipped in a page. Words
 * are split at bytes below 0x30, `<` and `>`. This splits no multi-byte character: none of the detected encodings uses
 * these bytes inside one.
 */
export function sampleOf(bytes: Uint8Array, isPage: boolean): Uint8Array {
  const sample = new Uint8Array(MAX_SAMPLE);
  const end = Math.min(bytes.length, MAX_SEARCHED);
  let [length, start, hasLetters, inTag] = [0, 0, false, false];
  for (let i = 0; i <= end && length < MAX_SAMPLE; i++) {
    const byte = i < end ? (bytes[i] ?? 0) : 0x20;
    if (byte >= 0x80) hasLetters = true;
    const isMark = byte === 0x3c || byte === 0x3e;
    if (byte >= 0x30 && !isMark) continue;
    if (hasLetters && !inTag) {
      const word = bytes.subarray(start, Math.min(i, start + MAX_SAMPLE - length - 1));
      sample.set(word, length);
      length += word.length;
      sample[length++] = 0x20;
    }
    if (isPage && isMark) inTag = byte === 0x3c;
    start = i + 1;
    hasLetters = false;
  }
  return sample.subarray(0, length);
}
