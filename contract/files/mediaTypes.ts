import { FILE_FORMATS, type FileFormatRow } from './fileFormats.js';

/** Media types of a vector's content: the values of media_type in a search. */
export const MEDIA_TYPES = ['TEXT', 'IMAGE', 'AUDIO', 'VIDEO'] as const;
export type MediaType = (typeof MEDIA_TYPES)[number];

const MEDIA_TYPE_OF: Readonly<Record<FileFormatRow['kind'], MediaType>> = {
  text: 'TEXT',
  image: 'IMAGE',
  audio: 'AUDIO',
  video: 'VIDEO',
};

/**
 * Returns the media type of a file's vectors: IMAGE for a picture that was embedded as a picture, TEXT for text that
 * OCR found in it, AUDIO or VIDEO for the speech of a recording.
 * @param format the contract's file_format; null and formats that are not uploads (a page, a feed entry) are text
 * @param hasText whether the file has text; false for a picture that was embedded as a picture
 */
export function mediaTypeOf(format: string | null, hasText: boolean): MediaType {
  const kind =
    format !== null && format in FILE_FORMATS ? FILE_FORMATS[format as keyof typeof FILE_FORMATS].kind : 'text';
  return kind === 'image' && hasText ? 'TEXT' : MEDIA_TYPE_OF[kind];
}
