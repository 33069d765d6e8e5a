import { createObjectTree } from '../objectTree.js';

/** Buckets and their keys as items. */
export const { itemOfContainer, itemOfFolder, itemsOfObjects, contentOf } = createObjectTree({
  addressOf: (bucket, key) => `s3://${bucket}/${key}`,
  containerType: 'FOLDER',
  containerFact: 'bucket',
});
