/** What the operations that take files share with the workflow that reads them. */
import { type FileFormat, sourceOfUpload } from './fileFormats.js';
import { AUDIO_SOURCES, IMAGE_SOURCES, type SourceType, TEXT_SOURCES, VIDEO_SOURCES } from './sources.js';

/** What a file of a user may be: the sources that are no place but a kind of file. */
export const UPLOAD_SOURCES: readonly SourceType[] = [
  ...TEXT_SOURCES,
  ...IMAGE_SOURCES,
  ...AUDIO_SOURCES,
  ...VIDEO_SOURCES,
];

export const TRANSCRIPTION_SERVICES = ['assemblyai', 'deepgram'] as const;
export type TranscriptionService = (typeof TRANSCRIPTION_SERVICES)[number];

/** What the record of an uploaded file keeps of how it came. */
export interface UploadOptions {
  /** Where it is fetched from, once; null for what was sent. */
  readonly url: string | null;
  /** The name that its sender gave; null where the address, or its server, tells one. */
  readonly fileName?: string | null;
  /** As its sender or server declared it. */
  readonly contentType: string | null;
  /** Of a file that another one contained: how many there are around it. */
  readonly depth?: number;
}

/** Text that was sent without a file. */
export const RAW_TEXT_SOURCE = 'RAW_TEXT' as const satisfies SourceType;

/** Files inside one another: what lies deeper is left out. */
export const MAX_ATTACHMENT_DEPTH = 4;

/** Times that the same bytes may bring their reader down. */
export const MAX_CRASHES = 3;

/** Chunks that a caller made, of one file. */
export interface GivenChunks {
  readonly texts: readonly string[];
  /** The vectors of all of them, base64 of 32-bit floats; null where they are to be made, or none are wanted. */
  readonly vectors: readonly string[] | null;
}

/** The space of vectors that a caller made with a model: compared with one another, and with none of ours. */
export const givenSpace = (model: string, dimensions: number) => ({
  name: `${GIVEN_PREFIX}${model.toLowerCase().replaceAll('_', '-')}-${dimensions}`,
  dimensions,
});
const GIVEN_PREFIX = 'given-';
export const isGivenSpace = (name: string): boolean => name.startsWith(GIVEN_PREFIX);

/** What a file is found to be before it is read: its source, and what its record says of it until then. */
export const foundAs = (
  { format, mimeType }: { readonly format: FileFormat; readonly mimeType: string },
  name: string,
  size: number,
) => ({
  source: sourceOfUpload(format, name),
  statistics: {
    fileFormat: format,
    fileSize: size,
    numCharacters: null,
    numTokens: null,
    numEmbeddings: null,
    mimeType,
  },
});

/**
 * What a sender declares, as far as it helps to read a file: programs name sources of theirs by an ending that browsers
 * take for a video's, and what pictures and sound are shows in their first bytes.
 */
export const helpfulType = (declared: string | null): string | null =>
  declared === null || /^(?:image|audio|video|font)\//i.test(declared) ? null : declared;

/** The name of a file at an address: its last word, or the host. */
export function nameInUrl(url: string): string {
  const { pathname, hostname } = new URL(url);
  const last = pathname.split('/').findLast((word) => word !== '') ?? '';
  try {
    return decodeURIComponent(last) || hostname;
  } catch {
    return last;
  }
}
