import type { OcrLine, OcrWord, PictureText } from './engine.js';

/** A tag of hOCR as Tesseract writes it: its class, and its properties in `title`. */
const TAG = /<(?:p|span) class='(ocrx?_\w+)'[^>]*? title=(["'])(.*?)\2[^>]*>/g;
const BOX = /\bbbox (\d+) (\d+) (\d+) (\d+)/;
const CONFIDENCE = /\bx_wconf (-?\d+)/;
const SIZE = /\bx_size (\d+(?:\.\d+)?)/;
const WORD_END = '</span>';

/** Characters that Tesseract escapes (HOcrEscape in src/api/hocrrenderer.cpp). */
const ESCAPED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'" };

/**
 * Reads the hOCR output of Tesseract 4 and 5 (http://kba.github.io/hocr-spec/1.2/). Lines of all classes are read:
 * Tesseract marks some as headers, captions or floats.
 */
export function readHocr(hocr: string): PictureText {
  const paragraphs: { words: OcrWord[]; height: number }[][] = [];
  for (const { 0: tag, 1: kind, 3: properties = '', index } of hocr.matchAll(TAG)) {
    if (kind === 'ocr_par') paragraphs.push([]);
    else if (kind === 'ocrx_word') {
      const word = wordOf(properties, hocr.slice(index + tag.length, hocr.indexOf(WORD_END, index)));
      if (word !== null) paragraphs.at(-1)?.at(-1)?.words.push(word);
    } else paragraphs.at(-1)?.push({ words: [], height: Number(SIZE.exec(properties)?.[1] ?? 0) });
  }
  return paragraphs.map((lines): OcrLine[] => lines.filter(({ words }) => words.length > 0));
}

function wordOf(properties: string, content: string): OcrWord | null {
  const box = BOX.exec(properties)?.slice(1).map(Number);
  // Styles are elements inside of the word.
  const text = content
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(lt|gt|amp|quot|#39);/g, (_all, name: string) => ESCAPED[name] ?? '')
    .trim();
  if (box === undefined || text === '') return null;
  const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] = box;
  return { text, confidence: Number(CONFIDENCE.exec(properties)?.[1] ?? 0), bbox: { x0, y0, x1, y1 } };
}
