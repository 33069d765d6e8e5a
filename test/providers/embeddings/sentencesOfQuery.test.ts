import { afterAll, describe, expect, test } from '@jest/globals';
import { createLocalProvider } from '../../../providers/embeddings/providers/local.js';
import { joinSentences, sentencesOfQuery } from '../../../providers/embeddings/providers/sentencesOfQuery.js';
import { modelFiles } from './modelFiles.js';
import { cosine, length } from './vectors.js';

describe('sentencesOfQuery', () => {
  const FIRST = 'How do libraries choose their journals?';
  const SECOND = 'Which costs do they compare before that?';

  test.each([
    ['two sentences', `${FIRST} ${SECOND}`, [FIRST, SECOND]],
    ['one sentence', FIRST, []],
    ['a sentence and a greeting', `Good morning. ${FIRST} Thanks!`, []],
    ['two sentences and a greeting', `Good morning. ${FIRST} ${SECOND}`, [FIRST, SECOND]],
    [
      'a mark inside of a sentence',
      'Which changes does version 2.4 of the index format have, e.g. for old readers?',
      [],
    ],
    [
      'lower case after two spaces',
      'Please read the whole file at example.  then continue with the next chapter of the book',
      [],
    ],
    ['a quotation', `“${FIRST}” ${SECOND}`, [`“${FIRST}”`, SECOND]],
    [
      'Chinese, without spaces',
      '图书馆是怎样选择它们所订阅的学术期刊的以及由谁来决定？在做出这个决定之前他们会比较哪些费用和使用数据？',
      ['图书馆是怎样选择它们所订阅的学术期刊的以及由谁来决定？', '在做出这个决定之前他们会比较哪些费用和使用数据？'],
    ],
  ])('returns at least two sentences, or none: %s', (_name, query, expected) => {
    expect(sentencesOfQuery(query)).toEqual(expected);
  });

  test('uses at most the first eight sentences', () => {
    expect(sentencesOfQuery(`${SECOND} `.repeat(50))).toEqual(new Array(8).fill(SECOND));
  });
});

describe('the embedded model', () => {
  const provider = createLocalProvider({ ...modelFiles, threads: 1 });
  afterAll(() => provider.close());
  const ONE = 'The library wants to cancel subscriptions of journals without readers.';
  const TWO = 'Bridges of steel have to be painted every ten years.';

  test('joins the vectors of a query and of its two sentences, and embeds other texts unchanged', async () => {
    const [both, single] = await provider.embed([`${ONE} ${TWO}`, ONE], 'query');
    const [whole, one, two] = await provider.embed([`${ONE} ${TWO}`, ONE, TWO], 'document');
    expect(length(both!)).toBeCloseTo(1, 5);
    expect(both).toEqual(joinSentences(whole!, [one!, two!]));
    expect(single).toEqual(one);
    // The vector of the whole text is more similar to one sentence than to the other. The difference is smaller for the
    // joined vector.
    const unevenness = (vector: Float32Array): number => Math.abs(cosine(vector, one!) - cosine(vector, two!));
    expect(unevenness(both!)).toBeLessThan(unevenness(whole!));
  });
});
