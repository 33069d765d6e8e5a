/** Types of text with a position: on pages, as a reader or OCR finds it, and in the parsed text. */
import type { OcrLanguage } from '../contract/files/ocrLanguages.js';

/** A line of a page with its box, in points from the page's upper left corner; for a picture, in its pixels. */
export interface PageLine {
  readonly text: string;
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
}

/** Lines that form a unit. */
export interface PageParagraph {
  readonly lines: readonly PageLine[];
  /** Rank (1 to 6) of a heading; absent for other paragraphs. */
  readonly heading?: number;
  /** Whether each line is a row of a table, in the form `header: value, header: value`. */
  readonly isTable?: boolean;
  /** Whether each line stays a line of its own. */
  readonly keepsLines?: boolean;
}

/** The text of one page in reading order, from a PDF's parser or from OCR. */
export interface PageText {
  /** Page number, from 1. */
  readonly number: number;
  readonly paragraphs: readonly PageParagraph[];
  /** How OCR read the page; absent for pages that OCR did not read. */
  readonly recognition?: PageRecognition;
}

/** How OCR read a page. */
export interface PageRecognition {
  /** The language in which it was read; null for an empty page. */
  readonly language: OcrLanguage | null;
  /**
   * Mean confidence of its words, 0 to 1, weighted by their length, illegible words included; null if no word was
   * legible.
   */
  readonly confidence: number | null;
}

/** The position of a page's line in the parsed text. */
export interface PlacedLine extends Omit<PageLine, 'text'> {
  readonly start: number;
  readonly end: number;
}

/** The position of a page in the parsed text (UTF-16 offsets, end exclusive). */
export interface PlacedPage {
  readonly number: number;
  readonly start: number;
  readonly end: number;
  /** Lines in the order of the text. */
  readonly lines: readonly PlacedLine[];
}

/** The position of timed speech in the parsed text (UTF-16 offsets, end exclusive); times in seconds. */
export interface PlacedSpeech {
  readonly start: number;
  readonly end: number;
  readonly startSec: number;
  readonly endSec: number;
  /** Null if speakers are not distinguished. */
  readonly speaker: string | null;
}
