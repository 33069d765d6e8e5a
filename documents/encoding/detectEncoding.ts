import { decodeBytes } from './decodeBytes.js';
import { isEbcdic } from './ebcdic.js';
import * as languages from './languages.js';
import { sampleOf } from './sample.js';
import { scoreAlphabets, scoreIdeographs } from './scoreText.js';

interface Candidate {
  readonly encoding: string;
  readonly script: readonly languages.Alphabet[] | languages.Ideographs;
  /** Advantage of a frequent encoding over a rare one. */
  readonly prior: number;
  /** Only for files: no browser detects it in a page. */
  readonly filesOnly?: boolean;
}

const RARE = -4;
const CANDIDATES: readonly Candidate[] = [
  { encoding: 'windows-1252', script: languages.WESTERN, prior: 3 },
  { encoding: 'windows-1250', script: languages.CENTRAL_EUROPEAN, prior: 0 },
  { encoding: 'iso-8859-2', script: languages.CENTRAL_EUROPEAN, prior: -1 },
  { encoding: 'windows-1254', script: languages.TURKISH, prior: 0 },
  { encoding: 'windows-1257', script: languages.BALTIC, prior: 0 },
  { encoding: 'iso-8859-13', script: languages.BALTIC, prior: RARE },
  { encoding: 'iso-8859-4', script: languages.BALTIC, prior: RARE },
  { encoding: 'windows-1251', script: languages.CYRILLIC, prior: 0 },
  { encoding: 'koi8-u', script: languages.CYRILLIC, prior: -1 },
  { encoding: 'iso-8859-5', script: languages.CYRILLIC, prior: RARE },
  { encoding: 'ibm866', script: languages.CYRILLIC, prior: RARE },
  { encoding: 'x-mac-cyrillic', script: languages.CYRILLIC, prior: RARE },
  { encoding: 'windows-1253', script: languages.GREEK, prior: 0 },
  { encoding: 'iso-8859-7', script: languages.GREEK, prior: -1 },
  { encoding: 'windows-1255', script: languages.HEBREW, prior: 0 },
  { encoding: 'windows-1256', script: languages.ARABIC, prior: 0 },
  { encoding: 'iso-8859-6', script: languages.ARABIC, prior: RARE },
  { encoding: 'windows-874', script: languages.THAI, prior: 0 },
  { encoding: 'shift_jis', script: languages.JAPANESE, prior: 0 },
  { encoding: 'euc-jp', script: languages.JAPANESE, prior: 0 },
  { encoding: 'gb18030', script: languages.CHINESE_SIMPLIFIED, prior: 0 },
  { encoding: 'big5', script: languages.CHINESE_TRADITIONAL, prior: 0 },
  { encoding: 'euc-kr', script: languages.KOREAN, prior: 0 },
  { encoding: 'cp850', script: languages.WESTERN, prior: 1.5 * RARE, filesOnly: true },
  { encoding: 'cp852', script: languages.CENTRAL_EUROPEAN, prior: 1.5 * RARE, filesOnly: true },
];

/** The candidate to score for a declared encoding that is nearly equal to it. */
const NEAR_EQUIVALENTS: ReadonlyMap<string, string> = new Map([
  ['koi8-r', 'koi8-u'],
  ['iso-8859-8', 'windows-1255'],
  ['iso-8859-8-i', 'windows-1255'],
]);

/** Minimum advantage over a declared encoding: in total, and per byte beyond ASCII. */
const MIN_GAIN = 12;
const MIN_GAIN_PER_BYTE = 0.4;
/**
 * Minimum score per byte beyond ASCII of a text that is certainly decoded correctly: no further encodings are tried.
 */
const CERTAIN = -2.9;

interface DetectionOptions {
  /** Whether the bytes are an HTML page: then its markup is skipped. */
  readonly isPage: boolean;
  /**
   * Declared encoding, in the name of the Encoding Standard; null for none. It is used unless another encoding fits
   * much better.
   */
  readonly declared: string | null;
  /** Language subtag that the page declares; null for none. */
  readonly language: string | null;
}

/**
 * Detects the encoding of bytes that are not valid UTF-8 or UTF-16: the one whose decoding is the most likely text.
 * Without evidence, returns the declared one, else windows-1252, as in browsers.
 */
export function detectEncoding(bytes: Uint8Array, { isPage, declared, language }: DetectionOptions): string {
  if (!isPage && declared === null && isEbcdic(bytes)) return 'cp500';
  const sample = sampleOf(bytes, isPage);
  const nonAscii = countNonAscii(sample);
  const score = ({ encoding, script, prior }: Candidate): number => {
    const text = decodeBytes(sample, encoding);
    return (
      prior +
      ('share' in script ? scoreIdeographs(text, script, nonAscii, language) : scoreAlphabets(text, script, language))
    );
  };
  const claimed = declared === null ? null : (NEAR_EQUIVALENTS.get(declared) ?? declared);
  const claimedCandidate = CANDIDATES.find(({ encoding }) => encoding === claimed);
  // A declared encoding that is not a candidate has no score to compare with, so it is used.
  if (declared !== null && claimedCandidate === undefined) return declared;
  const ownScore = claimedCandidate === undefined ? null : score(claimedCandidate);
  if (declared !== null && ownScore !== null && ownScore >= CERTAIN * nonAscii) return declared;
  let best = { encoding: declared ?? 'windows-1252', score: ownScore ?? -Infinity };
  for (const candidate of CANDIDATES) {
    if (candidate === claimedCandidate || (candidate.filesOnly === true && isPage)) continue;
    const found = score(candidate);
    if (found > best.score) best = { encoding: candidate.encoding, score: found };
  }
  if (declared === null || ownScore === null) return best.encoding;
  const gain = best.score - ownScore;
  return gain > MIN_GAIN && gain > MIN_GAIN_PER_BYTE * nonAscii ? best.encoding : declared;
}

function countNonAscii(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) if (byte >= 0x80) count += 1;
  return count;
}

const ESCAPE = 0x1b;

/** Whether ASCII bytes have the escape sequences of ISO-2022-JP. */
export function isIso2022Jp(bytes: Uint8Array): boolean {
  const at = bytes.indexOf(ESCAPE);
  return at !== -1 && bytes[at + 1] === 0x24 && (bytes[at + 2] === 0x40 || bytes[at + 2] === 0x42);
}
