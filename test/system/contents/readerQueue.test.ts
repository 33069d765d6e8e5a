import { expect, test } from '@jest/globals';

import type { PoolDocument } from '../../../documents/answerTask.js';
import { createReaderQueue } from '../../../documents/readerQueue.js';
import type { Readers } from '../../../documents/readers.js';

const LARGE = 200 * 1024;
const document = (owner: number): PoolDocument => ({
  input: {
    ...{ bytes: new Uint8Array(LARGE), contentType: null, name: `${owner}`, baseUrl: null, owner },
    html: { tags: [], classes: [], selectors: [] },
  },
  links: { max: 1, follow: { hosts: [] }, withText: false },
});

test('assigns the readers to the owners of documents in turn, however many documents each owner has', async () => {
  const read: (number | undefined)[] = [];
  const readers: Readers = {
    async run(documents) {
      read.push(...documents.map(({ input }) => input.owner));
      await new Promise((resolve) => setImmediate(resolve));
      return documents.map(() => ({ document: { urls: [] } as never }));
    },
    close: () => Promise.resolve(),
  };
  const readerQueue = createReaderQueue(readers, 1, () => undefined);
  await Promise.all([1, 1, 1, 1, 2, 3, 2].map((owner) => readerQueue.answer(document(owner))));
  expect(read).toEqual([1, 2, 3, 1, 2, 1, 1]);
  await readerQueue.close();
});
