import { FILE_FORMATS, type FileFormatRow } from './fileFormats.js';

/** What a vector was made of, in the words of a search's media_type. */
export const MEDIA_TYPES = ['TEXT', 'IMAGE', 'AUDIO', 'VIDEO'] as const;
export type MediaType = (typeof MEDIA_TYPES)[number];

const MEDIA_TYPE_OF: Readonly<Record<FileFormatRow['kind'], MediaType>> = {
  text: 'TEXT',
  image: 'IMAGE',
  audio: 'AUDIO',
  video: 'VIDEO',
};

/**
 * What the vectors of a file were made of: a picture as what it shows is IMAGE, what OCR read in one is TEXT; what is said in a
 * recording is found as AUDIO or VIDEO.
 * @param format the contract's file_format; null and what is no uploaded format (a page, a feed's entry): text
 * @param hasText whether the file has a text, which a picture that is embedded as what it shows has not
 */
export function mediaTypeOf(format: string | null, hasText: boolean): MediaType {
  const kind =
    format !== null && format in FILE_FORMATS ? FILE_FORMATS[format as keyof typeof FILE_FORMATS].kind : 'text';
  return kind === 'image' && hasText ? 'TEXT' : MEDIA_TYPE_OF[kind];
}
