/**
 * English words without meaning for a search: Lucene's list, and question words. Documents keep
 * them, so that "the who" is found, but texts that contain "what" by chance do not rank above those that answer. In other
 * languages such words weigh little because they are frequent, and some of them mean something in English.
 */
const FUNCTION_WORDS: ReadonlySet<string> = new Set(
  `a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to
   was will with what which who whom whose how why when where do does did can could should would i me my we our you
   your has have had from about its any some than so were been am`.split(/\s+/),
);

/** Whether a word of a query is dropped. Words in capitals (IT, WHO) are kept. */
export const isFunctionWord = (word: string): boolean =>
  FUNCTION_WORDS.has(word.toLowerCase()) && !(word.length > 1 && word === word.toUpperCase());
