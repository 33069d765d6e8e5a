import { createObjectTree } from '../objectTree.js';

/** Returns functions that convert the containers and blobs of one account to items. */
export const treeOf = (accountUrl: string) =>
  createObjectTree({
    addressOf: (container, key) => `${accountUrl}/${container}${key === '' ? '' : `/${escapePath(key)}`}`,
    containerType: 'Container',
    containerField: 'container',
  });

/** Encodes a blob's name for a URL path. */
export const escapePath = (key: string): string => key.split('/').map(encodeURIComponent).join('/');
