/** Tests of the conversion of GitBook's pages, beyond those that its emulator sends. */
import { expect, test } from '@jest/globals';

import { itemsOfPages } from '../../connectors/gitbook/adapter.js';
import { asAnswers } from '../../connectors/json.js';
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
    { externalId: 's/new', reason: expect.stringMatching(/of its type/) },
  ]);
});
