/** URIs of files as MCP resources. */

const URI = /^allotrope:\/\/files\/(\d{1,15})(\/original)?(?:\?offset=(\d{1,15}))?$/;

/** Returns the URI of a file's text. */
export const uriOf = (fileId: number): string => `allotrope://files/${fileId}`;

/** A resource: the text of a file from an offset on, or its original. */
export interface FileUri {
  readonly fileId: number;
  readonly isOriginal: boolean;
  readonly offset: number;
}

/** Parses the URI of a resource; null for other URIs. */
export function readUri(uri: string): FileUri | null {
  const [, id, original, offset = '0'] = URI.exec(uri) ?? [];
  return id === undefined ? null : { fileId: Number(id), isOriginal: original !== undefined, offset: Number(offset) };
}
