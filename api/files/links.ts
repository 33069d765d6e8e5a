import type { FileDoc } from '../../store/files/model.js';
import type { ApiDeps } from '../deps.js';
import type { ContentRef } from '../http/signedUrls.js';
import type { FileLinks } from '../presenters/file.js';

export interface WantedLinks {
  readonly raw: boolean;
  readonly parsed: boolean;
  readonly lifeSeconds: number;
}

/** Presigned URLs of what a file has stored; null for what it has not, or what was not asked for. */
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
