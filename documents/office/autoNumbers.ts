import { formatNumber } from './formatNumber.js';

/** An automatic number of a paragraph in a drawing. */
export interface AutoNumber {
  /** Such as `arabicPeriod`. */
  readonly type: string;
  readonly start: number;
}

interface Last extends AutoNumber {
  readonly number: number;
}

/** Word's names of the formats. */
const FORMATS: ReadonlyArray<readonly [begin: string, format: string]> = [
  ['alphaLc', 'lowerLetter'],
  ['alphaUc', 'upperLetter'],
  ['romanLc', 'lowerRoman'],
  ['romanUc', 'upperRoman'],
  ['circleNum', 'decimalEnclosedCircle'],
];
const ENDINGS: ReadonlyArray<readonly [end: string, write: (number: string) => string]> = [
  ['Period', (number) => `${number}.`],
  ['ParenR', (number) => `${number})`],
  ['ParenBoth', (number) => `(${number})`],
];

/**
 * Counts the numbered paragraphs of a shape. A level continues while its paragraphs have the same numbering, and restarts
 * after a paragraph of a shallower level. ECMA-376, part 1, 21.1.2.4.1 (buAutoNum), 20.1.10.61 (ST_TextAutonumberScheme).
 */
export class AutoNumbers {
  readonly #last = new Map<number, Last>();

  /** Counts a paragraph. Returns its number as shown, such as `1.` or `(a)`; '' for one without a number. */
  next(level: number, auto: AutoNumber | null): string {
    for (const deeper of [...this.#last.keys()]) if (deeper > level) this.#last.delete(deeper);
    if (auto === null) {
      this.#last.delete(level);
      return '';
    }
    const { type, start } = auto;
    const last = this.#last.get(level);
    const number = last?.type === type && last.start === start ? last.number + 1 : start;
    this.#last.set(level, { type, start, number });
    const format = FORMATS.find(([begin]) => type.startsWith(begin))?.[1] ?? 'decimal';
    const write = ENDINGS.find(([end]) => type.endsWith(end))?.[1] ?? String;
    return write(formatNumber(number, format));
  }
}
