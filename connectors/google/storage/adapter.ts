import { createObjectTree, type ListedObject } from '../../objectTree.js';
import { type Answer, asAnswer, asList, asText } from '../../json.js';
import type { CloudObject } from '../vendorTypes.js';

/** Functions that convert buckets and their objects to items. */
export const { itemOfContainer, itemOfFolder, itemsOfObjects, contentOf } = createObjectTree({
  addressOf: (bucket, key) => `gs://${bucket}/${key}`,
  containerType: 'FOLDER',
  containerField: 'bucket',
});

export const dateOf = (value: unknown): Date | null => {
  const date = new Date(asText(value) ?? '');
  return Number.isNaN(date.getTime()) ? null : date;
};

/**
 * Returns a value that changes with an object's content: objects are immutable, so an overwrite has a new generation.
 */
export const versionOf = (object: Answer<CloudObject>): string | null =>
  asText(object.generation) ?? asText(object.etag);

/** Returns the objects of a listing that have a name. */
export const objectsIn = (list: unknown): ListedObject[] =>
  asList(list).flatMap((given) => {
    const object = asAnswer<CloudObject>(given);
    const key = asText(object.name);
    return key === null ? [] : [{ key, createdAt: dateOf(object.timeCreated), etag: versionOf(object) }];
  });

/** Valid bucket names; other characters could change the request path. */
const BUCKET = /^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$/;
export const isBucket = (name: string | null): name is string => name !== null && BUCKET.test(name);
/** Valid project ids, including those with a domain prefix. */
const PROJECT = /^[a-z0-9.:-]{1,100}$/;
export const isProject = (id: string | null): id is string => id !== null && PROJECT.test(id);
