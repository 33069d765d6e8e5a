/** The transcript of a recording: created by a transcription service, stored by the store, read by documents. */
import { FILE_FORMATS, type FileFormat } from './fileFormats.js';
import type { IngestOptions } from './ingestOptions.js';
import type { TranscriptionService } from './uploads.js';

/** A sentence, or a part of a sentence that one speaker speaks without interruption. */
export interface TranscriptSegment {
  /** Seconds from the beginning of the recording. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** The service's name of the speaker ("0", "A"); null if speakers are not distinguished. */
  readonly speaker: string | null;
  /** Whether the segment starts a paragraph. */
  readonly paragraph: boolean;
}

/** Options of a transcription. */
export interface TranscriptionOptions {
  readonly detectLanguage: boolean;
  readonly speakers: boolean;
}

export interface Transcript {
  readonly service: TranscriptionService;
  readonly options: TranscriptionOptions;
  /** In order of time; empty for a recording without speech. */
  readonly segments: readonly TranscriptSegment[];
  /** A BCP 47 tag; null if the language was not requested or not detected. */
  readonly language: string | null;
  /** Seconds. */
  readonly duration: number | null;
}

/** Returns whether a format is read by transcription. */
export const isRecording = (format: string | null | undefined): format is FileFormat =>
  typeof format === 'string' &&
  Object.hasOwn(FILE_FORMATS, format) &&
  ['audio', 'video'].includes(FILE_FORMATS[format as FileFormat].kind);

/** Returns the transcription options of a request, with the contract's defaults for absent options. */
export const transcriptionOptionsOf = ({
  detectAudioLanguage,
  includeSpeakerLabels,
}: IngestOptions): TranscriptionOptions => ({
  detectLanguage: detectAudioLanguage ?? false,
  speakers: includeSpeakerLabels ?? false,
});

/** Returns whether a stored transcript covers a request. A transcript with more options covers requests with fewer. */
export function coversRequest(
  { service, options }: Pick<Transcript, 'service' | 'options'>,
  request: Pick<IngestOptions, 'transcriptionService' | 'detectAudioLanguage' | 'includeSpeakerLabels'>,
): boolean {
  const requestedService = request.transcriptionService ?? service;
  return (
    requestedService === service &&
    (options.detectLanguage || request.detectAudioLanguage !== true) &&
    (options.speakers || request.includeSpeakerLabels !== true)
  );
}
