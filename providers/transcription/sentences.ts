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
 * Maximum number of words in a sentence of speech without punctuation. Chunks have the times of whole sentences, so
 * long sentences would make the times imprecise.
 */
const MAX_WORDS = 60;
/** Silence, in seconds, that separates paragraphs. */
const PARAGRAPH_PAUSE_S = 2;
const SENTENCES_OF_A_PARAGRAPH = 6;

/**
 * Cuts a transcript into sentences. A new paragraph begins at a change of the speaker, at a pause between sentences,
 * and after a maximum number of sentences. The text is copied from the service's text, because not every language has
 * spaces between words.
 */
export function sentencesOf(text: string, words: readonly SpokenWord[]): TranscriptSegment[] {
  const segments: TranscriptSegment[] = [];
  let firstWord = 0;
  let sentenceStart = 0;
  let position = 0;
  let sentences = 0;
  const close = (last: number): void => {
    const [begin, end] = [words[firstWord], words[last]];
    if (!begin || !end) return;
    const previous = segments.at(-1);
    const paragraph =
      !previous ||
      previous.speaker !== begin.speaker ||
      begin.start - previous.end > PARAGRAPH_PAUSE_S ||
      sentences >= SENTENCES_OF_A_PARAGRAPH;
    sentences = paragraph ? 1 : sentences + 1;
    const sentence = text.slice(sentenceStart, position).trim();
    if (sentence !== '')
      segments.push({ start: begin.start, end: end.end, text: sentence, speaker: begin.speaker, paragraph });
    firstWord = last + 1;
    sentenceStart = position;
  };
  words.forEach((word, index) => {
    const wordStart = text.indexOf(word.text, position);
    // A word with another spelling in the text is placed between its neighbours.
    if (wordStart >= 0 && wordStart - position < 200) position = wordStart + word.text.length;
    const next = words[index + 1];
    if (!next) position = text.length;
    else if (!SENTENCE_END.test(word.text) && next.speaker === word.speaker && index - firstWord + 1 < MAX_WORDS)
      return;
    close(index);
  });
  return segments;
}
