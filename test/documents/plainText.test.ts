import iconv from 'iconv-lite';
import { expect, test } from '@jest/globals';
import { faultOf, parsePage } from './page.js';
import { readFile } from './readFile.js';

const text = (content: string): unknown => parsePage(content, { contentType: 'text/plain', name: 'a.txt' });
const markdown = (content: string): ReturnType<typeof parsePage> =>
  parsePage(content, { contentType: null, name: 'a.md' });

test('keeps the lines of plain text', () => {
  expect(text('\ufeff\r\n  one\u00a0two  \r\n\r\nthree\rfour\n\n\n\n\nfive\n')).toEqual({
    text: '  one two\n\nthree\nfour\n\n\nfive',
    format: 'TXT',
    mimeType: 'text/plain',
    metadata: {},
  });
});

test('keeps Markdown without its comments, and reads front matter as metadata', () => {
  const source =
    '---\ntitle: "A: b"\ndate: 2020-01-02\ntags: [a]\nauthor:\n---\n\n# Head\n\n<!-- todo -->\nText *is* `code`.\n\n```\n# not a title\n```\n';
  expect(markdown(source)).toEqual({
    text: '# Head\n\n\nText *is* `code`.\n\n```\n# not a title\n```',
    format: 'MD',
    mimeType: 'text/markdown',
    metadata: { title: 'A: b', published: '2020-01-02' },
  });
});

test('takes the first top-level heading of Markdown as the title', () => {
  expect(markdown('Intro\n\n# The title #\n\n# Other').metadata).toEqual({ title: 'The title' });
  expect(markdown('## Not top').metadata).toEqual({});
});

test('a code block of Markdown keeps its comments and contains no title', () => {
  const code = '````sh\n# install\n```\n<!-- kept -->\n````';
  const parsed = markdown(`Intro\n=====\n\n${code}\n\n<!--\n# gone -->`);
  expect(parsed).toEqual(expect.objectContaining({ text: `Intro\n=====\n\n${code}`, metadata: {} }));
  expect(markdown(`${code}\n\n# Title`).metadata).toEqual({ title: 'Title' });
  const unclosed = '~~~\n# install\n<!-- kept -->';
  expect(markdown(unclosed)).toEqual(expect.objectContaining({ text: unclosed, metadata: {} }));
});

test('does not treat a horizontal rule at the start as front matter', () => {
  expect(markdown('---\nText\n---\nMore').text).toBe('---\nText\n---\nMore');
});

test('drops images that are embedded in the text', () => {
  expect(markdown(`a ![x](data:image/png;base64,${'A'.repeat(500)}) b`).text).toBe('a ![x]() b');
});

test.each([
  ['text', '\n \u200b\n', 'a.txt'],
  ['Markdown', '---\ntitle: x\n---\n<!-- a -->\n', 'a.md'],
])('reports no_text for %s without words', (_name, content, name) => {
  expect(faultOf(() => parsePage(content, { contentType: null, name }))).toBe('no_text');
});

test.each([
  [
    'UTF-16 without a byte order mark',
    Buffer.from('Words of a file, of letters and spaces.', 'utf16le'),
    'Words of a file, of letters and spaces.',
  ],
  [
    'Cyrillic',
    iconv.encode('Гавань была построена городом в прошлом веке и с тех пор дважды расширена.', 'windows-1251'),
    'Гавань была построена городом в прошлом веке и с тех пор дважды расширена.',
  ],
  [
    'Japanese',
    iconv.encode('港は昔この町によって建てられ、その後二度広げられました。船は北の岸に着きます。', 'shift_jis'),
    '港は昔この町によって建てられ、その後二度広げられました。船は北の岸に着きます。',
  ],
  [
    'Western European',
    iconv.encode('Der Hafen wurde größer: „Straße“ – 10 €.', 'windows-1252'),
    'Der Hafen wurde größer: „Straße“ – 10 €.',
  ],
])('detects the undeclared encoding of a file: %s', async (_name, bytes, expected) => {
  expect((await readFile(Uint8Array.from(bytes), 'a.txt')).text).toBe(expected);
});
