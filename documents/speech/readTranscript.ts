import { Fault } from '../../contract/failures.js';
import type { TranscriptSegment } from '../../contract/files/transcripts.js';
import { oneLine, TextBuilder } from '../textBuilder.js';
import type { PlacedSpeech } from '../placedText.js';
import type { DocumentLimits, ParsedDocument, ParseInput } from '../types.js';

/** Prefix of a turn, if the transcript distinguishes speakers. */
const label = (speaker: string): string => `Speaker ${speaker}: `;

/** Formats a transcript in paragraphs. If it distinguishes speakers, each turn begins with its speaker. */
export function readTranscript(
  { format, mimeType, transcript }: NonNullable<ParseInput['recording']>,
  limits: DocumentLimits,
): ParsedDocument {
  const { segments, service, language, duration } = transcript;
  const text = new TextBuilder(limits.maxTextCharacters);
  const speech: PlacedSpeech[] = [];
  let previous: TranscriptSegment | null = null;
  for (const segment of segments) {
    const spoken = oneLine(segment.text);
    if (spoken === '') continue;
    const { speaker } = segment;
    const isTurn = speaker !== null && speaker !== previous?.speaker;
    if (text.length > 0) text.add(segment.paragraph || isTurn ? '\n\n' : ' ');
    const start = text.length;
    text.add(isTurn ? label(speaker) + spoken : spoken);
    speech.push({ start, end: text.length, startSec: segment.start, endSec: segment.end, speaker });
    previous = segment;
  }
  if (speech.length === 0)
    throw new Fault('no_text', 'No speech was found in this recording. Remove it, or check that it is audible.');
  return {
    text: text.toString(),
    format,
    mimeType,
    metadata: {
      transcription_service: service,
      ...(duration === null ? {} : { duration_sec: duration }),
      ...(language === null ? {} : { language }),
    },
    speech,
  };
}
