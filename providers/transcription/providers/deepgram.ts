/**
 * Transcribes with Deepgram, pre-recorded audio: one request contains the recording, and the response arrives after the
 * transcription. https://developers.deepgram.com/reference/speech-to-text/listen-pre-recorded
 */
import type { Transcript, TranscriptionOptions, TranscriptSegment } from '../../../contract/files/transcripts.js';
import type { Egress } from '../../../egress/types.js';
import { sentencesOf } from '../sentences.js';
import { createServiceClient } from '../serviceClient.js';
import type { ServiceSettings, TranscriptionProvider, TranscriptionSettings } from '../types.js';

const NAMES = { name: 'Deepgram', keySetting: 'DEEPGRAM_API_KEY', urlSetting: 'DEEPGRAM_BASE_URL' };

/** The part of Deepgram's response that is read; times in seconds. */
interface Answer {
  readonly metadata?: { readonly duration?: number };
  readonly results?: { readonly channels?: readonly Channel[] };
}
interface Channel {
  readonly detected_language?: string;
  readonly alternatives?: readonly Alternative[];
}
interface Alternative {
  readonly transcript?: string;
  readonly words?: readonly Word[];
  /** Absent for languages without spaces between words. */
  readonly paragraphs?: { readonly paragraphs?: readonly Paragraph[] };
}
interface Word {
  readonly word: string;
  readonly punctuated_word?: string;
  readonly start: number;
  readonly end: number;
  readonly speaker?: number;
}
interface Paragraph {
  readonly sentences?: readonly { readonly text: string; readonly start: number; readonly end: number }[];
  readonly speaker?: number;
}

const nameOf = (speaker: number | undefined): string | null => (speaker === undefined ? null : String(speaker));

function segmentsOf({ transcript = '', words = [], paragraphs }: Alternative): TranscriptSegment[] {
  const fromParagraphs = (paragraphs?.paragraphs ?? []).flatMap(({ sentences = [], speaker }) =>
    sentences
      .filter(({ text }) => text.trim() !== '')
      .map(({ text, start, end }, nth) => ({
        start,
        end,
        text: text.trim(),
        speaker: nameOf(speaker),
        paragraph: nth === 0,
      })),
  );
  if (fromParagraphs.length > 0) return fromParagraphs;
  return sentencesOf(
    transcript,
    words.map(({ word, punctuated_word, start, end, speaker }) => ({
      text: punctuated_word ?? word,
      start,
      end,
      speaker: nameOf(speaker),
    })),
  );
}

/** Converts a response to a transcript. */
export function readDeepgram({ metadata, results }: Answer, options: TranscriptionOptions): Transcript {
  const channel = results?.channels?.[0];
  const alternative = channel?.alternatives?.[0];
  return {
    service: 'deepgram',
    options,
    segments: alternative ? segmentsOf(alternative) : [],
    language: options.detectLanguage ? (channel?.detected_language ?? null) : null,
    duration: metadata?.duration ?? null,
  };
}

export function createDeepgram(
  settings: ServiceSettings & { readonly apiKey: string },
  { timeoutMs }: TranscriptionSettings,
  egress: Pick<Egress, 'request'>,
): TranscriptionProvider {
  const client = createServiceClient(NAMES, settings, `Token ${settings.apiKey}`, egress);
  return {
    service: 'deepgram',
    async transcribe(recording, options, _job, signal) {
      const query = new URLSearchParams({
        model: settings.model,
        smart_format: 'true',
        punctuate: 'true',
        paragraphs: 'true',
        utterances: 'true',
        ...(options.speakers ? { diarize: 'true' } : {}),
        ...(options.detectLanguage ? { detect_language: 'true' } : {}),
      });
      const answer = await client.call(
        {
          method: 'POST',
          path: `/v1/listen?${query.toString()}`,
          headers: { 'content-type': recording.mimeType },
          body: await recording.open(),
          bodyBytes: recording.size,
          timeoutMs,
        },
        signal,
      );
      return readDeepgram(answer as Answer, options);
    },
    // Deepgram has no jobs: when the connection closes, it stops the work.
    abandon: () => Promise.resolve(),
  };
}
