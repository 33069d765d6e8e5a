/** What is in object stores is called here: a bucket by its name, what lies in it as `<bucket>/<key>`, a folder with a slash at its end. */

/** What an external id means. */
export interface ObjectPlace {
  readonly bucket: string;
  /** '' for the bucket itself. */
  readonly key: string;
  /** `prefix`: whatever begins with the key, as a caller may ask. */
  readonly kind: 'bucket' | 'folder' | 'object' | 'prefix';
}

export const idOf = (bucket: string, key: string): string => (key === '' ? bucket : `${bucket}/${key}`);

/** The id of whatever begins with a text. No bucket is called '', so a slash in front is nothing else. */
export function idOfPrefix(bucket: string, prefix: string): string {
  return prefix === '' || prefix.endsWith('/') ? idOf(bucket, prefix) : `/${bucket}/${prefix}`;
}

export function parseItemId(externalId: string): ObjectPlace {
  if (externalId.startsWith('/')) return { ...parseItemId(externalId.slice(1)), kind: 'prefix' };
  const slash = externalId.indexOf('/');
  const key = slash < 0 ? '' : externalId.slice(slash + 1);
  const bucket = slash < 0 ? externalId : externalId.slice(0, slash);
  if (key === '') return { bucket, key, kind: 'bucket' };
  return { bucket, key, kind: key.endsWith('/') ? 'folder' : 'object' };
}
