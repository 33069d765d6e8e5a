import { spansIn } from '../chunking/placeCuts.js';
import type { PlacedSpeech } from '../placedText.js';
import type { Cut } from '../types.js';

const roundToMilliseconds = (seconds: number): number => Math.round(seconds * 1000) / 1000;

/**
 * Adds to each cut its time in seconds, and its speakers if the transcript distinguishes speakers. The time lasts from
 * the earliest start to the latest end of the sentences in the cut.
 */
export function timeCuts(cuts: readonly Cut[], speech: readonly PlacedSpeech[]): Cut[] {
  return cuts.map((cut) => {
    const spans = spansIn(speech, cut);
    if (spans.length === 0) return cut;
    const speakers = [...new Set(spans.flatMap(({ speaker }) => speaker ?? []))];
    return {
      ...cut,
      metadata: {
        // People may talk at the same time, so the last sentence does not always end last.
        start_offset_sec: roundToMilliseconds(
          spans.reduce((least, { startSec }) => Math.min(least, startSec), Infinity),
        ),
        end_offset_sec: roundToMilliseconds(spans.reduce((latest, { endSec }) => Math.max(latest, endSec), 0)),
        ...(speakers.length > 0 ? { speakers } : {}),
      },
    };
  });
}
