/** The last check of a recording: it searches for words of the account, independently of the redaction. */
import type { Recording } from '../fixture.js';
import { EXTENSIONS, type TextRedaction } from './redactText.js';
import { TIME } from './times.js';
import { wordsIn } from './words.js';

/** Minimum length of a word in characters: shorter words are too common. */
const MIN_LENGTH = 6;
/** Words of the format of recordings, and of pseudonymous hosts. */
const FORMAT_WORDS = [
  ...['example', 'source', 'account', 'emulator', 'recordedon', 'haschanges', 'limits', 'containers', 'credentials'],
  ...['exchanges', 'request', 'response', 'method', 'headers', 'status', 'binary', 'outcome', 'connect', 'changes'],
  ...['listing', 'hasnext', 'content', 'isempty', 'hasfeed', 'format', 'accept', 'application', 'charset', 'modified'],
];

/** Matches times, which are removed before the search: they are shifted, but their fractions of seconds stay. */
const TIMES = new RegExp(TIME.source, 'gu');

const decodePercent = (text: string): string =>
  text.replaceAll(/(?:%[\da-f]{2})+/gi, (part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });

/** Returns all texts in a value with their paths. Names of fields count as texts. */
function textsIn(value: unknown, path: string): [path: string, text: string][] {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value === 'number') return [[path, String(value)]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member], at): [string, string][] => [
    [`${path}[${at}]`, Array.isArray(value) ? '' : name],
    ...textsIn(member, `${path}[${at}]`),
  ]);
}

/** A text in base64 hides its words, so its decoded form is added. */
const withDecodedBase64 = (text: string): string =>
  /^[\w+/=\s-]{24,}$/.test(text) ? `${text} ${Buffer.from(text, 'base64').toString()}` : text;

/**
 * Returns the paths of values in a recording that contain words of the account. Words that are also in the code of the
 * connector, or in the format of recordings, do not count.
 * @param originals all words that came from the account, in lower case
 */
export function findLeaks(recording: Recording, originals: ReadonlySet<string>, redaction: TextRedaction): string[] {
  const { vocabulary, kept } = redaction;
  const allowed = new Set([
    ...FORMAT_WORDS,
    ...EXTENSIONS,
    ...[...vocabulary.values, ...vocabulary.names, ...kept].flatMap((text) => wordsIn(text, MIN_LENGTH)),
  ]);
  // Other fields of a recording contain nothing of the account.
  const { credentials, urls, steps } = recording;
  return textsIn({ credentials, urls, steps }, '').flatMap(([path, text]) =>
    wordsIn(decodePercent(withDecodedBase64(text)).replaceAll(TIMES, ' '), MIN_LENGTH).some(
      (word) => originals.has(word) && !allowed.has(word),
    )
      ? [path]
      : [],
  );
}
