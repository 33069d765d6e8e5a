import { createObjectTree } from '../objectTree.js';

/** Functions that convert buckets and their objects to items. */
export const { itemOfContainer, itemOfFolder, itemsOfObjects, contentOf } = createObjectTree({
  addressOf: (bucket, key) => `s3://${bucket}/${key}`,
  containerType: 'FOLDER',
  containerField: 'bucket',
});
