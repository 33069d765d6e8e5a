import type { FileDoc } from '../../store/models/files.js';
import type { ApiDeps } from '../http/deps.js';
import type { ContentRef } from '../http/identity/signedUrls.js';
import type { FileLinks } from '../presenters/file.js';

export interface WantedLinks {
  readonly raw: boolean;
  readonly parsed: boolean;
  readonly lifeSeconds: number;
}

type WithContent = Pick<FileDoc, 'organizationId' | '_id' | 'generation' | 'original' | 'hasContent' | 'hasText'>;

/** Returns where the original of a file is stored; null if it has none. */
export function originalOf({
  organizationId,
  _id: fileId,
  generation,
  original,
  hasContent,
}: WithContent): ContentRef | null {
  if (original) return { organizationId, fileId, generation: original.id, kind: 'original' };
  return hasContent ? { organizationId, fileId, generation, kind: 'raw' } : null;
}

/** Returns presigned URLs of a file's stored contents; null for one that does not exist or was not requested. */
export function linksOf(
  file: WithContent,
  wanted: WantedLinks,
  { signedUrls, publicUrl }: Pick<ApiDeps, 'signedUrls' | 'publicUrl'>,
): FileLinks {
  const { organizationId, _id: fileId, generation } = file;
  const link = (ref: ContentRef) => `${publicUrl()}${signedUrls.sign(ref, wanted.lifeSeconds)}`;
  const original = wanted.raw ? originalOf(file) : null;
  return {
    raw: original && link(original),
    parsed: wanted.parsed && file.hasText ? link({ organizationId, fileId, generation, kind: 'txt' }) : null,
  };
}
