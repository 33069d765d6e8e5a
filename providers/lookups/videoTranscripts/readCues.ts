/** https://www.w3.org/TR/webvtt1/: reads the text of cues, without styles and positions. */
import { decodeHTMLStrict } from 'entities';

import type { TranscriptLine } from '../types.js';

const TIMING = /^\s*((?:\d+:)?\d\d:\d\d\.\d{3})\s+-->\s+((?:\d+:)?\d\d:\d\d\.\d{3})/;
/** Marks of the direction of writing, which cues contain as `&lrm;` and `&rlm;`. */
const DIRECTION_MARKS = /[\u200e\u200f]/g;

/** Returns a time in seconds. Times below one hour may omit the hours. */
const seconds = (time: string): number => time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
const rounded = (time: number): number => Math.round(time * 1000) / 1000;

const plain = (text: string): string =>
  decodeHTMLStrict(text.replace(/<[^<>]*>/g, ''))
    .replace(DIRECTION_MARKS, '')
    .replace(/\s+/g, ' ')
    .trim();

/** Returns the non-empty cues of a WebVTT file; null if it is not WebVTT. */
export function readCues(text: string): TranscriptLine[] | null {
  if (!/^\uFEFF?WEBVTT(?:[ \t\r\n]|$)/.test(text)) return null;
  const blocks = text.replaceAll(/\r\n?/g, '\n').split(/\n{2,}/);
  return blocks.flatMap((block) => {
    const lines = block.split('\n');
    const at = lines.findIndex((line) => TIMING.test(line));
    const [, start = '', end = ''] = TIMING.exec(lines[at] ?? '') ?? [];
    const spoken = at === -1 ? '' : plain(lines.slice(at + 1).join(' '));
    if (spoken === '') return [];
    return [{ text: spoken, start: seconds(start), duration: rounded(Math.max(0, seconds(end) - seconds(start))) }];
  });
}
