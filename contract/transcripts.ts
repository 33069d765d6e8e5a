/** What was said in a recording: made by transcription, kept by the store, read by documents. */
import { FILE_FORMATS, type FileFormat } from './fileFormats.js';
import type { IngestOptions } from './ingestOptions.js';
import type { TranscriptionService } from './uploads.js';

/** A sentence, or as much of it as one speaker says in one go. */
export interface TranscriptSegment {
  /** Seconds from the beginning of the recording. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** As its service names speakers ("0", "A"); null where they are not told apart. */
  readonly speaker: string | null;
  /** Whether a paragraph begins with it. */
  readonly paragraph: boolean;
}

/** What a service is asked for. */
export interface TranscriptionWishes {
  readonly detectLanguage: boolean;
  readonly speakers: boolean;
}

export interface Transcript {
  readonly service: TranscriptionService;
  readonly wishes: TranscriptionWishes;
  /** In the order of time; none where nothing is said. */
  readonly segments: readonly TranscriptSegment[];
  /** A BCP 47 tag, where it was to be detected and was. */
  readonly language: string | null;
  /** Seconds. */
  readonly duration: number | null;
}

/** Whether a format is read by transcription. */
export const isRecording = (format: string | null | undefined): format is FileFormat =>
  typeof format === 'string' &&
  Object.hasOwn(FILE_FORMATS, format) &&
  ['audio', 'video'].includes(FILE_FORMATS[format as FileFormat].kind);

export const wishesOf = ({ detectAudioLanguage, includeSpeakerLabels }: IngestOptions): TranscriptionWishes => ({
  detectLanguage: detectAudioLanguage ?? false,
  speakers: includeSpeakerLabels ?? false,
});

/** Whether what is kept of a recording answers what is asked: who asked for more before has all that who asks for less wants. */
export function serves(
  { service, wishes }: Pick<Transcript, 'service' | 'wishes'>,
  options: Pick<IngestOptions, 'transcriptionService' | 'detectAudioLanguage' | 'includeSpeakerLabels'>,
): boolean {
  const wanted = options.transcriptionService ?? service;
  return (
    wanted === service &&
    (wishes.detectLanguage || options.detectAudioLanguage !== true) &&
    (wishes.speakers || options.includeSpeakerLabels !== true)
  );
}
