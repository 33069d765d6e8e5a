/**
 * Item ids of object stores. The id of a bucket is its name, and that of an object is `<bucket>/<key>`. Ids of folders
 * end with a slash.
 */

/** A parsed external id. */
export interface ObjectRef {
  readonly bucket: string;
  /** Empty for the bucket itself. */
  readonly key: string;
  /** `prefix`: all keys with this prefix, as callers can select. */
  readonly kind: 'bucket' | 'folder' | 'object' | 'prefix';
}

export const idOf = (bucket: string, key: string): string => (key === '' ? bucket : `${bucket}/${key}`);

/**
 * Returns the id that selects all keys with a prefix. Bucket names are never empty, so a leading slash is unambiguous.
 */
export function idOfPrefix(bucket: string, prefix: string): string {
  return prefix === '' || prefix.endsWith('/') ? idOf(bucket, prefix) : `/${bucket}/${prefix}`;
}

/** Parses an item id of an object store into bucket and key. */
export function parseItemId(externalId: string): ObjectRef {
  if (externalId.startsWith('/')) return { ...parseItemId(externalId.slice(1)), kind: 'prefix' };
  const slash = externalId.indexOf('/');
  const key = slash < 0 ? '' : externalId.slice(slash + 1);
  const bucket = slash < 0 ? externalId : externalId.slice(0, slash);
  if (key === '') return { bucket, key, kind: 'bucket' };
  return { bucket, key, kind: key.endsWith('/') ? 'folder' : 'object' };
}
