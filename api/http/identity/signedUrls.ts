import { createHmac, hkdfSync } from 'node:crypto';

import { isSignature } from './signer.js';

/** Target of a presigned URL: a stored content of one generation of a file, or its original upload. */
export interface ContentRef {
  readonly organizationId: number;
  readonly fileId: number;
  /** For an original: the id of the original, which later syncs do not change. */
  readonly generation: number;
  readonly kind: 'raw' | 'txt' | 'original';
}

export interface SignedUrls {
  /** Returns a path with a query. A GET of it returns the content without other credentials, until the path expires. */
  sign(ref: ContentRef, lifeSeconds: number): string;
  /** Returns the target of a signed path; null if it was modified or has expired. */
  read(params: Readonly<Record<string, string>>, query: Readonly<Record<string, unknown>>): ContentRef | null;
}

/** Path of signed contents. */
export const CONTENT_PATH = '/content/{organization}/{file}/{content}';

/** Signs with keys derived from SECRET_KEY: the first key signs, all verify. */
export function createSignedUrls(
  keys: readonly { id: string; key: Buffer }[],
  now: () => number = Date.now,
): SignedUrls {
  const signers = new Map(
    keys.map(({ id, key }) => [id, Buffer.from(hkdfSync('sha256', key, '', 'presigned-url', 32))]),
  );
  const [signingKey] = keys;
  if (!signingKey) throw new Error('SECRET_KEY contains no key');
  const mac = (id: string, pathname: string, expires: number): Buffer | null => {
    const signer = signers.get(id);
    return signer ? createHmac('sha256', signer).update(`${id}\n${pathname}\n${expires}`).digest() : null;
  };
  return {
    sign({ organizationId, fileId, generation, kind }, lifeSeconds) {
      const pathname = `/content/${organizationId}/${fileId}/${generation}.${kind}`;
      const expires = Math.floor(now() / 1000) + lifeSeconds;
      return `${pathname}?key=${signingKey.id}&expires=${expires}&signature=${mac(signingKey.id, pathname, expires)?.toString('base64url')}`;
    },
    read(params, { key, expires, signature }) {
      const { organization, file, content } = params;
      const match = /^(\d+)\.(raw|txt|original)$/.exec(content ?? '');
      if (!match || typeof key !== 'string' || typeof expires !== 'string' || typeof signature !== 'string')
        return null;
      // The signature covers the number, not its text: without this check, `0123` would be as valid as `123`.
      if (!/^[1-9]\d*$/.test(expires)) return null;
      const expected = mac(key, `/content/${organization}/${file}/${content}`, Number(expires));
      if (!expected || !isSignature(signature, expected) || Number(expires) * 1000 <= now()) return null;
      return {
        organizationId: Number(organization),
        fileId: Number(file),
        generation: Number(match[1]),
        kind: match[2] as ContentRef['kind'],
      };
    },
  };
}
