/** Tests of the conversion of GitBook's pages, beyond those that its emulator sends. */
import { expect, test } from '@jest/globals';

import { contentOf, itemsOfPages, pageFrom } from '../../connectors/gitbook/adapter.js';
import { asAnswer, asAnswers } from '../../connectors/json.js';
import type { GitBookPage } from '../../connectors/gitbook/fields.js';

test('keeps the subpages of an entry that is not an item, below the nearest item above it', () => {
  const pages = asAnswers<GitBookPage>([
    {
      ...{ id: 'top', title: 'Top', type: 'document' },
      pages: [
        { id: 'api', title: 'API', type: 'computed', pages: [{ id: 'pets', title: 'Pets', type: 'document' }] },
        { id: 'new', title: 'New', type: 'novelty', pages: [{ id: 'toys', title: 'Toys', type: 'document' }] },
      ],
    },
  ]);
  const { items, skipped } = itemsOfPages({ id: 's' }, pages);
  expect(items.map(({ externalId, parentExternalId }) => [externalId, parentExternalId])).toEqual([
    ['s/top', 's'],
    ['s/pets', 's/top'],
    ['s/toys', 's/top'],
  ]);
  expect(skipped).toMatchObject([
    { externalId: 's/api', reason: expect.stringMatching(/computes/) },
    { externalId: 's/new', reason: expect.stringMatching(/of this type/) },
  ]);
  const within = (pageId: string) => {
    const selection = itemsOfPages({ id: 's' }, pages, pageId);
    return [selection.items, selection.skipped].map((entries) => entries.map(({ externalId }) => externalId));
  };
  expect(within('top')).toEqual([
    ['s/top', 's/pets', 's/toys'],
    ['s/api', 's/new'],
  ]);
  expect(within('api')).toEqual([['s/pets'], ['s/api']]);
  expect(within('toys')).toEqual([['s/toys'], []]);
  expect(within('none')).toEqual([[], []]);
});

test.each([
  ['without a title', { description: 'About.', markdown: 'Text.' }, 'About.\n\nText.'],
  ['with its title as the first heading', { title: 'Intro', markdown: '\n# Intro \n\nText.' }, '\n# Intro \n\nText.'],
  [
    'with a first heading that begins with its title',
    { title: 'Intro', description: 'About.', markdown: '# Introduction\n\nText.' },
    '# Intro\n\nAbout.\n\n# Introduction\n\nText.',
  ],
  ['without text', { title: 'Intro' }, '# Intro'],
])(
  'the content has the title as heading, the description and the Markdown, or only Markdown that begins with that heading: a page %s',
  (_what, fields, expectedText) => {
    const page = pageFrom(asAnswer<GitBookPage>({ id: 'p', type: 'document', ...fields }))!;
    expect(Buffer.from(contentOf(page, 's/p', 's').bytes).toString()).toBe(expectedText);
  },
);
