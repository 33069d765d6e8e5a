import { spansIn } from '../chunking/placeCuts.js';
import type { Cut, PlacedSpeech } from '../types.js';

const rounded = (seconds: number): number => Math.round(seconds * 1000) / 1000;

/**
 * The cuts with when each was said, in seconds: from the beginning of the sentence that its first word stands in to the
 * end of that of its last one; and by whom, where speakers are told apart.
 */
export function timeCuts(cuts: readonly Cut[], speech: readonly PlacedSpeech[]): Cut[] {
  return cuts.map((cut) => {
    const said = spansIn(speech, cut);
    if (said.length === 0) return cut;
    const speakers = [...new Set(said.flatMap(({ speaker }) => speaker ?? []))];
    return {
      ...cut,
      metadata: {
        // People talk at the same time: who began first does not always end first.
        start_offset_sec: rounded(said.reduce((least, { startSec }) => Math.min(least, startSec), Infinity)),
        end_offset_sec: rounded(said.reduce((most, { endSec }) => Math.max(most, endSec), 0)),
        ...(speakers.length > 0 ? { speakers } : {}),
      },
    };
  });
}
