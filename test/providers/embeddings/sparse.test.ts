import { describe, expect, test } from '@jest/globals';

import { languageOfChunk } from '../../../providers/embeddings/sparse/detectLanguage.js';
import { hashTerm } from '../../../providers/embeddings/sparse/hashTerm.js';
import { encodeDocument, encodeQuery } from '../../../providers/embeddings/sparse/sparseEncoder.js';
import { splitWords, tokensOf } from '../../../providers/embeddings/sparse/splitWords.js';
import { stemWord } from '../../../providers/embeddings/sparse/stemWord.js';

const termsOf = (text: string): string[] =>
  [...tokensOf(text)].flatMap((token) => splitWords(token).terms.map((term) => stemWord(term, null)));
const charactersOf = (text: string): string[] => [...tokensOf(text)].flatMap((token) => splitWords(token).characters);

/** Returns the weight of a term in a text, or null if the text does not contain it. */
function weightOf(term: string, text: string): number | null {
  const vector = encodeDocument(text);
  const at = vector?.indices.indexOf(hashTerm(term)) ?? -1;
  return vector?.values[at] ?? null;
}

test('hashes terms with 32-bit MurmurHash3', () => {
  // The values are from the reference implementation (SMHasher) with seed 0. The lengths leave 0 to 3 remaining bytes.
  expect(['', 'a', 'ab', 'abc', 'test', 'hello', 'Hello, world!'].map(hashTerm)).toEqual([
    0, 1009084850, 2613040991, 3017643002, 3127628307, 613153351, 3224780355,
  ]);
});

describe('words of many languages', () => {
  test.each([
    ['English', 'The running dogs; indexes of vectors', 'the run dog index of vector'],
    ['possessives', "the user's file, l’été", 'the user file l ete lete'],
    ['French', 'Voitures électriques naïves', 'voitur electriqu naiv'],
    ['German', 'Straße, Häuser; Größe', 'strass hauser gross'],
    ['Danish, Polish, Turkish', 'Ærøskøbing Łódź İstanbul ılık', 'aeroskob lodz istanbul ilik'],
    ['Russian', 'книги книгах Ёлка', 'книг книг елк'],
    ['Ukrainian with its own letters', 'Київ їжак', 'київ їжак'],
    ['Greek', 'άνθρωποι άνθρωπος', 'ανθρωπ ανθρωπ'],
    ['Arabic', 'الكتاب كِتَاب كتـاب', 'كتاب كتاب كتاب'],
    ['Hebrew', 'שָׁלוֹם', 'שלום'],
    ['Hindi with its vowel signs', 'हिन्दी किताबों', 'हिन्द किताब'],
    ['Chinese', '北京大学', '北京 京大 大学'],
    ['Japanese', '東京に住む データ', '東京 京に に住 住む デー ータ'],
    ['half-width katakana', 'ﾃﾞｰﾀ', 'デー ータ'],
    ['Korean', '학교에서', '학교 교에 에서'],
    ['Thai', 'ภาษาไทยง่าย', 'ภาษา ไทย ง่าย'],
    ['scripts without a space between', 'Node入門', 'node 入門'],
    ['compatibility forms', 'ＡＢＣ ﬁne', 'abc fine'],
    ['invisible characters', 'co\u00adop\u200berate', 'cooper'],
    ['combining marks', 'e\u0301te\u0301', 'ete'],
  ])('are split and stemmed: %s', (_name, text, terms) => {
    expect(termsOf(text).join(' ')).toBe(terms);
  });

  test('of scripts without spaces are also found by a single character', () => {
    expect(termsOf('猫')).toEqual(['猫']);
    expect(charactersOf('黒猫')).toEqual(['黒', '猫']);
    const queryTerms = encodeQuery('猫')?.indices ?? [];
    expect(encodeDocument('黒猫が好き')?.indices).toEqual(expect.arrayContaining([...queryTerms]));
    // A longer query matches only adjacent characters.
    expect(encodeQuery('黒猫')?.indices).toEqual([hashTerm('黒猫')]);
  });
});

describe('numbers, names of code and long words', () => {
  test.each([
    ['sqlite3_open_v2()', 'sqlite3 open v2 sqlite3openv2'],
    ['getUserById', 'get user by id getuserbyid'],
    ['HTTPServer of PDFs', 'http server httpserver of pdf'],
    ['node 18.20.1, v2.0', 'node 18 20 1 18.20.1 v2 0 v20'],
    ['UTF-8 GPT-4 e-mails', 'utf 8 utf8 gpt 4 gpt4 e mail email'],
    ['C++ C# and .NET', 'c c++ c c# and net'],
    ['192.168.0.1 3.14', '192 168 0 1 192.168.0.1 3 14 3.14'],
    ['2026-11-21', '2026 11 21 20261121'],
    ['https://example.com/a_b?id=7', 'http exampl com examplecom a b ab id 7'],
    ['**bold** | cell | # heading', 'bold cell head'],
  ])('are split into parts and joined forms: %s', (text, terms) => {
    expect(termsOf(text).join(' ')).toBe(terms);
  });

  test('are joined to the same form for all spellings of a name', () => {
    const joined = ['openFile', 'open_file', 'open-file', 'OpenFile', 'open.file'].map((name) => termsOf(name).at(-1));
    expect(new Set(joined)).toEqual(new Set(['openfil']));
  });

  // Quadratic time would take over a minute.
  test('are split within 10 s of CPU time if a word has 32,000 combining marks', () => {
    const started = process.cpuUsage();
    expect(splitWords(`aBa${'\u0301'.repeat(32_000)}`).count).toBeGreaterThan(0);
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(10_000);
  });

  test('are split into pairs and characters in a run of 300,000 Han characters', () => {
    const { terms, characters } = splitWords('猫'.repeat(300_000));
    expect([terms.length, characters.length]).toEqual([299_999, 300_000]);
  });

  test('omit long encoded data', () => {
    expect(termsOf(`before ${'A1'.repeat(100)} after`)).toEqual(['befor', 'after']);
  });
});

describe('weights of a document', () => {
  test('are those of BM25 with k1 1.2, b 0.75 and an average document length of 256 words', () => {
    // Two of four words: 2·2.2 / (2 + 1.2·(0.25 + 0.75·4/256)).
    expect(weightOf('otter', 'otters and otters swim')).toBeCloseTo(4.4 / (2 + 1.2 * (0.25 + (0.75 * 4) / 256)), 4);
    const long = `otter ${'word '.repeat(511)}`;
    expect(weightOf('otter', long)).toBeCloseTo(2.2 / (1 + 1.2 * (0.25 + 0.75 * 2)), 4);
    expect(weightOf('badger', long)).toBeNull();
  });

  test('contain each term once', () => {
    const vector = encodeDocument('a rose is a rose is a rose');
    expect(new Set(vector?.indices).size).toBe(vector?.indices.length);
    expect(vector?.values).toHaveLength(3);
  });

  test.each(['', ' \n', '--- … !!! 🙂'])('are null for a text without words: %j', (text) => {
    expect(encodeDocument(text)).toBeNull();
    expect(encodeQuery(text)).toBeNull();
  });
});

const hashes = (...terms: string[]): number[] => terms.map(hashTerm);

describe('queries', () => {
  test('contain each word once, weighted by how often it occurs', () => {
    expect(encodeQuery('What are Otters? otter OTTERS river')).toEqual({
      indices: hashes('otter', 'river'),
      values: [3, 1],
    });
  });

  test('omit question words and stop words, unless the query has no other words', () => {
    expect(encodeQuery('How do I open the file?')?.indices).toEqual(hashes('open', 'file'));
    expect(encodeQuery('to be or not to be')?.indices).toHaveLength(4);
    expect(encodeQuery('the IT of the WHO')?.indices).toEqual(hashes('it', 'who'));
  });
});

describe('languages', () => {
  /** A text, an inflected form that the text does not contain, and the stem of both. English stems differ. */
  const ROWS: [language: string, text: string, query: string, stem: string][] = [
    ['German', 'Die Häuser in der Stadt wurden von den Bürgern gebaut.', 'Haus', 'haus'],
    ['Dutch', 'De boeken in het huis zijn van de man die er niet was.', 'boekje boek', 'boek'],
    ['French', 'Les habitantes de la ville et de ses rues sont dans les maisons.', 'habitants', 'habit'],
    ['Spanish', 'Las obras españolas son más conocidas que las de los otros.', 'español', 'espanol'],
    ['Portuguese', 'As cidades brasileiras são maiores do que as da ilha.', 'brasileiro', 'brasileir'],
    ['Italian', 'I monumenti romani sono stati costruiti nella valle.', 'romana', 'roman'],
    ['Romanian', 'Orașele nordului sunt mai mari și mai vechi decât cele din sud.', 'nord', 'nord'],
    ['Danish', 'Husene i byen blev bygget af borgerne, og de er ikke nye.', 'huset', 'hus'],
    ['Finnish', 'Kirja on talossa, ja se oli siellä myös silloin kun hän ei ollut.', 'taloissa', 'talo'],
    ['Hungarian', 'A könyvek a házakban vannak, és nem az utcán.', 'házak', 'haz'],
    ['Turkish', 'Bu kitaplar ve defterler bir okul için çok önemli.', 'kitap', 'kitap'],
    ['Indonesian', 'Dia membaca buku itu di rumah dan tidak untuk mereka.', 'bacaan', 'baca'],
    ['Hindi', 'किताबें', 'किताबों', 'किताब'],
  ];
  test.each(ROWS)('match other inflections of a word: %s', (_language, text, query, stem) => {
    expect(encodeDocument(text)?.indices).toContain(hashTerm(stem));
    expect(encodeQuery(query)?.indices).toContain(hashTerm(stem));
  });

  test('a query omits only the function words of its own language', () => {
    const german = encodeQuery('Was ist die Ursache der Störung und wie wird sie behoben?')?.indices ?? [];
    for (const word of ['was', 'die', 'der', 'und', 'wie']) expect(german).not.toContain(hashTerm(word));
    expect(encodeQuery('Did he die of a heart attack?')?.indices).toContain(hashTerm('die'));
  });

  test('words without a sentence are searched in the forms of all languages', () => {
    const text = 'Die Häuser in der Stadt wurden von den Bürgern gebaut, und sie sind nicht alt.';
    const house = encodeQuery('Häuser')?.indices ?? [];
    expect(encodeDocument(text)?.indices).toEqual(expect.arrayContaining(hashes('haus')));
    expect(house).toEqual(expect.arrayContaining(hashes('haus', 'hauser')));
  });

  test('chunks of version 0.2.0, which had English stems, are found', () => {
    const query = encodeQuery('Welche Häuser wurden in der Stadt gebaut?')?.indices;
    expect(query).toEqual(expect.arrayContaining(hashes('hauser', 'stadt', 'gebaut')));
    expect(encodeQuery('किताबें')?.indices).toContain(hashTerm('किताबें'));
  });

  test('a short or mixed chunk has English stems, as in version 0.2.0', () => {
    expect(encodeDocument('Häuser 4711')?.indices).toEqual(hashes('hauser', '4711'));
    expect(
      languageOfChunk(
        new Map([
          ['de', 3],
          ['nl', 2.9],
        ]),
        20,
      ),
    ).toBeNull();
    expect(
      languageOfChunk(
        new Map([
          ['de', 3],
          ['nl', 1],
        ]),
        20,
      ),
    ).toBe('de');
    expect(languageOfChunk(new Map([['de', 3]]), 200)).toBeNull();
  });

  test('a compound word is also found by another compound with the same prefix, with less weight', () => {
    const prefix = hashTerm('feuer*');
    const chunk = 'Die Feuerversicherung wird von der Stadt bezahlt, und sie ist nicht neu.';
    expect(encodeDocument(chunk)?.indices).toContain(prefix);
    const query = encodeQuery('Was ist eine Feuerwehr?');
    expect(query?.values[query.indices.indexOf(prefix)]).toBe(0.3);
    expect(query?.values[query.indices.indexOf(hashTerm('feuerwehr'))]).toBe(1);
    // Short words, words of other languages and numbers have no prefix term.
    expect(encodeDocument('Das Feuer ist in der Stadt und nicht hier.')?.indices).not.toContain(prefix);
    expect(encodeDocument('The feuerversicherung is for the city and not for us.')?.indices).not.toContain(prefix);
    expect(encodeQuery('What is a feuerversicherung for the city?')?.indices).not.toContain(prefix);
  });

  test('neighbouring syllables of Vietnamese are also one term', () => {
    const chunk = encodeDocument('Trường đại học này là của thành phố và được nhiều người biết đến.');
    const pair = hashTerm('dai hoc');
    expect(chunk?.indices).toContain(pair);
    for (const text of ['Trường đại học nào là của thành phố?', 'đại học']) {
      const query = encodeQuery(text);
      expect(query?.values[query.indices.indexOf(pair)]).toBe(0.5);
    }
    expect(encodeQuery('đại nhiên học')?.indices).not.toContain(pair);
    expect(encodeQuery('книга дом')?.indices).toHaveLength(2);
    expect(encodeDocument('The dai hoc is in the city and not here.')?.indices).not.toContain(pair);
  });

  test('a long query without a known word is not stemmed in every language', () => {
    const words = (count: number) =>
      Array.from({ length: count }, (_, at) => `${'bdfgklmn'[at % 8]}uropaninnen`).join(' ');
    expect(encodeQuery(words(4))?.indices.length).toBeGreaterThan(4);
    expect(encodeQuery(words(80))?.indices).toHaveLength(8);
  });

  test('the text of an English question is not searched in other languages', () => {
    expect(encodeQuery('How are the universities of animation organized?')?.indices).toEqual(
      hashes('univers', 'anim', 'organ'),
    );
  });
});
