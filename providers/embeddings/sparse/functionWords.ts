/**
 * English words that say nothing of what is looked for: Lucene's list, and what questions are asked with. Documents keep
 * them, so that "the who" is found, but texts that happen to say "what" do not come before those that answer. In other languages such words
 * weigh little by being everywhere, and some of them mean something in English.
 */
const FUNCTION_WORDS: ReadonlySet<string> = new Set(
  `a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to
   was will with what which who whom whose how why when where do does did can could should would i me my we our you
   your has have had from about its any some than so were been am`.split(/\s+/),
);

/** Whether a word of a query is left out. What is written in capitals (IT, WHO) means something. */
export const isFunctionWord = (word: string): boolean =>
  FUNCTION_WORDS.has(word.toLowerCase()) && !(word.length > 1 && word === word.toUpperCase());
