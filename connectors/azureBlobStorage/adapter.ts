import { createObjectTree } from '../objectTree.js';

/** Containers and their blobs as items, with addresses in one account. */
export const treeOf = (accountUrl: string) =>
  createObjectTree({
    addressOf: (container, key) => `${accountUrl}/${container}${key === '' ? '' : `/${escapePath(key)}`}`,
    containerType: 'Container',
    containerFact: 'container',
  });

/** A blob's name as part of an address. */
export const escapePath = (key: string): string => key.split('/').map(encodeURIComponent).join('/');
