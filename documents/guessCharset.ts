import { analyse } from 'chardet';

/** Maximum number of examined bytes. */
const SAMPLE_BYTES = 64 * 1024;
const LEAST_CONFIDENCE = 30;

/** Encodings with letters that windows-1252 lacks. For western European encodings a guess is not better than windows-1252. */
const OTHER_LETTERS =
  /^(?:UTF-16|UTF-32|Shift_JIS|EUC-|Big5|GB18030|ISO-2022|ISO-8859-[5-8]|KOI8|windows-125[13-6]|IBM42)/i;

/** Guesses the encoding of text that has no declared encoding and is not UTF-8. */
export function guessCharset(bytes: Uint8Array): string {
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  const found = analyse(sample).find(({ name, confidence }) => confidence >= LEAST_CONFIDENCE && name !== 'UTF-8');
  return found !== undefined && OTHER_LETTERS.test(found.name) ? found.name : 'windows-1252';
}
