import type { FileDoc } from '../../store/models/files.js';
import type { ApiDeps } from '../http/deps.js';
import type { ContentRef } from '../http/identity/signedUrls.js';
import type { FileLinks } from '../presenters/file.js';

export interface WantedLinks {
  readonly raw: boolean;
  readonly parsed: boolean;
  readonly lifeSeconds: number;
}

/** Returns presigned URLs of a file's stored contents; null for one that does not exist or was not requested. */
export function linksOf(
  file: Pick<FileDoc, 'organizationId' | '_id' | 'generation' | 'original' | 'hasContent' | 'hasText'>,
  wanted: WantedLinks,
  { signedUrls, publicUrl }: Pick<ApiDeps, 'signedUrls' | 'publicUrl'>,
): FileLinks {
  const { organizationId, _id: fileId, generation, original } = file;
  const link = (kind: ContentRef['kind'], number: number) =>
    `${publicUrl()}${signedUrls.sign({ organizationId, fileId, generation: number, kind }, wanted.lifeSeconds)}`;
  const raw = original ? link('original', original.id) : file.hasContent ? link('raw', generation) : null;
  return {
    raw: wanted.raw ? raw : null,
    parsed: wanted.parsed && file.hasText ? link('txt', generation) : null,
  };
}
