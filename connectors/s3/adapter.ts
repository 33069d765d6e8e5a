import { createObjectTree } from '../objectTree.js';

/** Converts buckets and their keys to items. */
export const { itemOfContainer, itemOfFolder, itemsOfObjects, contentOf } = createObjectTree({
  addressOf: (bucket, key) => `s3://${bucket}/${key}`,
  containerType: 'FOLDER',
  containerField: 'bucket',
});
