import { expect, test } from '@jest/globals';
import { processDocument } from '../../documents/processDocument.js';
import type { ChunkOptions } from '../../documents/types.js';
import { input, LIMITS, textOf } from './page.js';
import { THREADS } from './threadPages.js';

const CHUNKING: ChunkOptions = {
  chunkSize: 400,
  chunkOverlap: 20,
  prefix: null,
  splitRows: false,
  setPageAsBoundary: false,
};

async function chunksOf(html: string, options: Partial<ChunkOptions> = {}): Promise<string[]> {
  const { text, cuts } = await processDocument(input(html), { ...CHUNKING, ...options }, LIMITS);
  return cuts.map(({ start, end }) => text.slice(start, end));
}

const QUESTION =
  'The lock on the north quay opens two hours before high water. How long does a ship of forty metres have to wait there?';
const ANSWER =
  'In spring it is seldom more than half an hour, because the pilots call ahead; in autumn the wait was two hours last year.';
const THANKS = 'Thank you, that helps.';

test.each(THREADS)('reads posts with author and date: %s', async (_name, page, dates) => {
  const html = page([QUESTION, ANSWER, THANKS]);
  const chunks = await chunksOf(html);
  const line = (name: string, date: string): string => (date === '' ? `## ${name}` : `## ${name}, ${date}`);
  const posts = [
    `${line('Ann Quay', dates[0])}\n\n${QUESTION}`,
    `${line('Ben Lock', dates[1])}\n\n${ANSWER}`,
    `${line('Ann Quay', dates[2])}\n\n${THANKS}`,
  ];
  // A short text before a post, such as the title of the page, belongs to the chunk of the post.
  expect(chunks.map((chunk) => chunk.replace(/^#+ (?:Waiting at the lock|2 Answers)\n\n/, ''))).toEqual(posts);
});

test('splits a long post between its sentences, and no chunk has two authors', async () => {
  const [, page] = THREADS[0] ?? ['', () => ''];
  const long = Array.from({ length: 40 }, (_, nth) => `In year ${1900 + nth} the gate was renewed, and it held well.`);
  const chunks = await chunksOf(page([QUESTION, long.join(' '), THANKS]), { chunkSize: 100, chunkOverlap: 30 });
  expect(chunks.length).toBeGreaterThan(8);
  for (const chunk of chunks)
    expect([QUESTION, 'the gate was renewed', THANKS].filter((part) => chunk.includes(part))).toHaveLength(1);
});

const teaser = (nth: number): string =>
  `<div class=card><h2><a href=/news/${nth}>Story ${nth} of the harbour</a></h2><span class=author>Ann ${nth}</span> <time datetime=2024-05-0${nth}>May ${nth}, 2024</time><p>${QUESTION} ${nth}</p></div>`;

test('does not treat teasers of articles as posts', () => {
  const text = textOf(`<main><h1>News</h1>${[1, 2, 3, 4].map(teaser).join('')}</main>`);
  expect(text).not.toMatch(/^## Ann/m);
  expect(text.indexOf('Story 1')).toBeLessThan(text.indexOf('Ann 1'));
});

test('does not treat the rows of a list of threads as posts', () => {
  const row = (nth: number): string =>
    `<tr><td><a href=/t/${nth}>Locks, and how long ships wait in them, part ${nth}</a></td><td><a class=username href=/u/ann>Ann ${nth}</a></td><td><time datetime=2024-05-0${nth}>May ${nth}, 2024</time></td></tr>`;
  const text = textOf(
    `<main><h1>Threads</h1><table><thead><tr><th>Topic<th>By<th>Last</tr></thead>${[1, 2, 3].map(row).join('')}</table><p>${QUESTION}</p></main>`,
  );
  expect(text).toContain('| Locks, and how long ships wait in them, part 1 | Ann 1 | May 1, 2024 |');
});

test("omits the author's joining date from the heading of a post, and does not split the table in a post", async () => {
  const post = (nth: number, body: string): string =>
    `<div class=post><dl class=profile><dt><a class=username href=/u/${nth}>Ann ${nth}</a><dd><strong>Joined:</strong> 3 May 2001<dd><strong>Posts:</strong> 12</dl><p class=author>by <b>Ann ${nth}</b> » 4 Jun 2024, 10:0${nth}</p><div class=content>${body}</div></div>`;
  const table = '<table><tr><th>Gate<th>Metres</tr><tr><td>North<td>40</tr></table>';
  const chunks = await chunksOf(`<h1>Locks</h1>${post(1, `<p>${QUESTION}</p>`)}${post(2, `<p>${ANSWER}</p>${table}`)}`);
  expect(chunks).toContain(
    `## Ann 2, 4 Jun 2024, 10:02\n\n${ANSWER}\n\n| Gate | Metres |\n| --- | --- |\n| North | 40 |`,
  );
});

test('omits the heading of a post whose text is hidden', () => {
  const post = (nth: number, body: string): string =>
    `<div class=post><a class=username href=/u/${nth}>Ann ${nth}</a> <time datetime=2024-05-0${nth}>May ${nth}, 2024</time><div class=text>${body}</div></div>`;
  const text = textOf(
    `<main><h1>Locks</h1>${post(1, `<p>${QUESTION}</p>`)}${post(2, `<p>${ANSWER}</p>`)}${post(3, '<div hidden>Draft</div>')}</main>`,
  );
  expect(text).toContain('## Ann 2, May 2, 2024');
  expect(text).not.toContain('Ann 3');
});
