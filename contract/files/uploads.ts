/** Types and rules that the upload operations share with the workflow that reads the files. */
import { type FileFormat, sourceOfUpload } from './fileFormats.js';
import { AUDIO_SOURCES, IMAGE_SOURCES, type SourceType, TEXT_SOURCES, VIDEO_SOURCES } from '../sources/sources.js';

/** Sources of uploaded files: file types, not origins. */
export const UPLOAD_SOURCES: readonly SourceType[] = [
  ...TEXT_SOURCES,
  ...IMAGE_SOURCES,
  ...AUDIO_SOURCES,
  ...VIDEO_SOURCES,
];

export const TRANSCRIPTION_SERVICES = ['assemblyai', 'deepgram'] as const;
export type TranscriptionService = (typeof TRANSCRIPTION_SERVICES)[number];

/** Properties of an upload, stored as `sourceOptions` in the record of its file. */
export interface UploadOptions {
  /** The URL from which the file is fetched once; null for uploaded content. */
  readonly url: string | null;
  /** The file name that the sender gave; null if the URL or its server supplies it. */
  readonly fileName?: string | null;
  /** Media type that the sender or the server declared; null if none did. */
  readonly contentType: string | null;
  /** Nesting depth of a file extracted from another file. */
  readonly depth?: number;
}

/** Text that was sent without a file. */
export const RAW_TEXT_SOURCE = 'RAW_TEXT' as const satisfies SourceType;

/** Maximum nesting of attachments: deeper ones are skipped. */
export const MAX_ATTACHMENT_DEPTH = 4;

/**
 * Number of crashes of the document reader on the same bytes (exceeded limits of time or memory included) after which
 * the bytes are not read again: further syncs of the file end in SYNC_ERROR.
 */
export const MAX_CRASHES = 3;

/** Chunks of one file, supplied by the caller. */
export interface CallerChunks {
  readonly texts: readonly string[];
  /** Vectors of all chunks, base64 of 32-bit floats; null if the service computes them or none are requested. */
  readonly vectors: readonly string[] | null;
}

/** Returns the source and the first metadata of a file whose format is known but whose content was not read yet. */
export const uploadRecordFields = (
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
 * Returns the declared media type if it helps to detect the format, else null. Types of images, audio, video and fonts
 * are ignored: browsers mistake source code extensions (.ts) for video, and the first bytes identify pictures and
 * sound.
 */
export const mediaTypeHint = (declared: string | null): string | null =>
  declared === null || /^(?:image|audio|video|font)\//i.test(declared) ? null : declared;

/** Returns the file name in a URL: the last part of the path, or the host. */
export function nameInUrl(url: string): string {
  const { pathname, hostname } = new URL(url);
  const last = pathname.split('/').findLast((word) => word !== '') ?? '';
  try {
    return decodeURIComponent(last) || hostname;
  } catch {
    return last;
  }
}
