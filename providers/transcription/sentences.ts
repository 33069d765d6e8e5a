import type { TranscriptSegment } from '../../contract/files/transcripts.js';

/** A word in a service's response; times in seconds. */
export interface SpokenWord {
  /** As written in the text, punctuation included. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly speaker: string | null;
}

const SENTENCE_END = /[.?!…。？！।؟]["'”’»)\]]*$/;
/**
 * Maximum number of words in a sentence of speech without punctuation: offsets refer to segments, which must stay
 * short.
 */
const MAX_WORDS = 60;
/** Silence, in seconds, that separates paragraphs. */
const PAUSE = 2;
const SENTENCES_OF_A_PARAGRAPH = 6;

/**
 * Cuts a transcript into sentences, and these into paragraphs: at a change of the speaker, at a pause between
 * sentences, and after a maximum length. The text is copied from the service's text, because not every language has
 * spaces between words.
 */
export function sentencesOf(text: string, words: readonly SpokenWord[]): TranscriptSegment[] {
  const segments: TranscriptSegment[] = [];
  let first = 0;
  let from = 0;
  let at = 0;
  let sentences = 0;
  const close = (last: number): void => {
    const [begin, end] = [words[first], words[last]];
    if (!begin || !end) return;
    const previous = segments.at(-1);
    const paragraph =
      !previous ||
      previous.speaker !== begin.speaker ||
      begin.start - previous.end > PAUSE ||
      sentences >= SENTENCES_OF_A_PARAGRAPH;
    sentences = paragraph ? 1 : sentences + 1;
    const sentence = text.slice(from, at).trim();
    if (sentence !== '')
      segments.push({ start: begin.start, end: end.end, text: sentence, speaker: begin.speaker, paragraph });
    first = last + 1;
    from = at;
  };
  words.forEach((word, index) => {
    const found = text.indexOf(word.text, at);
    // A word with another spelling in the text is placed between its neighbours.
    if (found >= 0 && found - at < 200) at = found + word.text.length;
    const next = words[index + 1];
    if (!next) at = text.length;
    else if (!SENTENCE_END.test(word.text) && next.speaker === word.speaker && index - first + 1 < MAX_WORDS) return;
    close(index);
  });
  return segments;
}
