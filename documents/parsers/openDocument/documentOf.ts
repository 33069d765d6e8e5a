import { mimeTypeOf } from '../../../contract/files/fileFormats.js';
import { countUnread } from '../../office/countUnread.js';
import type { ParsedDocument } from '../../types.js';
import type { OdfFile } from './openOdf.js';

/**
 * Returns the parsed document: `text`, the metadata of the file with `added`, and the counts of unread parts.
 */
export function documentOf(
  file: OdfFile,
  format: 'ODT' | 'ODS' | 'ODP',
  text: string,
  added: Readonly<Record<string, unknown>>,
  unread: Readonly<Record<string, number>>,
): ParsedDocument {
  const notRead = countUnread(file, unread);
  return {
    text,
    format,
    mimeType: mimeTypeOf(format),
    metadata: { ...file.metadata, ...added },
    ...(file.created === null ? {} : { sourceCreatedAt: file.created }),
    ...(notRead ? { notRead } : {}),
  };
}
