import { readMarkdown } from './readMarkdown.js';

/**
 * Text that depends on how a program writes its output and not on the contents of the file, such as docling's class of
 * a chart. It is removed from the reference and from each text.
 */
export interface Convention {
  readonly name: string;
  readonly why: string;
  readonly remove: (text: string) => string;
}

/**
 * Text that docling's output adds to the contents of a file. The references are those of docling
 * (https://github.com/docling-project/docling, tests/data).
 */
export const CONVENTIONS: readonly Convention[] = [
  {
    name: 'midnight',
    why: 'a date without a time is written with 00:00:00, the form of Python’s datetime',
    remove: (text) => text.replaceAll(/\b(\d{4}-\d\d-\d\d)[ T]00:00:00(?:\.0+)?\b/g, '$1'),
  },
  {
    name: 'default sheet name',
    why: 'a heading “Sheet1” is Excel’s default name; we omit it if the workbook has one sheet',
    remove: (text) => text.replaceAll(/^#{1,6} Sheet ?\d+$/gm, ''),
  },
  {
    name: 'kind of chart',
    why: 'a line such as “Bar chart” below a picture is the class that docling gives it',
    remove: (text) => text.replaceAll(/^(<!-- image -->\s+)\w+ chart$/gm, '$1'),
  },
  {
    name: 'check box',
    why: 'a check box is written as “[x]” or “[ ]” in Markdown; we write the character of the file',
    remove: (text) => text.replaceAll(/(?:[-*] )?\[[ xX]\] |[☐☑☒] ?/g, ''),
  },
];

/** Returns a text from which all CONVENTIONS are removed. */
export const withoutConventions = (text: string): string =>
  CONVENTIONS.reduce((rest, { remove }) => remove(rest), text);

/**
 * A text, without the parts that references omit or place elsewhere: comments, headers, footers, notes of slides and
 * data of charts.
 */
export interface SeparatedText {
  readonly main: string;
  /** The words of each part; those of a comment with its author, if known. */
  readonly separateParts: readonly string[];
}

/** A reference, separated from its comments. */
export interface SeparatedReference extends SeparatedText {
  /** Number of charts that the reference names without their data, which the file contains. */
  readonly chartsWithoutData: number;
}

/** Comments in docling's references. The time of a comment is not scored, because it is not part of its text. */
const REFERENCE_COMMENT = /^\[author: ([^\]]*?)(?: \([A-Z]{1,4}\))?(?:, time: [^\]]*)?\]: (.*)$/gm;
/** Comments, headers and footers in our text. */
const OUR_NOTE =
  /^(?:[-*] )?(?:(?:Comment|Reply)(?: by ([^:\n]*?)(?: \([A-Z]{1,4}\))?)?(?: on (?:"[^\n]*?"|[A-Z]{1,3}\d{1,7}))?|Header|Footer): (.*)$/gm;
/** The notes of a slide in our text. */
const OUR_SLIDE_NOTES = /(?<=\n\n|^)()Notes: (.+(?:\n.+)*)/g;
const CHART_WITHOUT_DATA = /^<!-- image -->\s+\w+ chart$(?!\s*^\|)/gm;
const TABLE = /(?:^\|.*(?:\n|$))+/gm;

/** Separates the comments of a reference from its text, and removes all CONVENTIONS. */
export const separateReference = (reference: string): SeparatedReference => ({
  ...separate(withoutConventions(reference), REFERENCE_COMMENT, () => true),
  chartsWithoutData: [...reference.matchAll(CHART_WITHOUT_DATA)].length,
});

/**
 * Separates comments, headers, footers and notes from a text of ours, and the data of charts that the reference only
 * names. A part whose words are in the main text of the reference stays, without its label: this reference does not
 * omit it.
 */
export function separateOurs(text: string, reference: SeparatedReference): SeparatedText {
  const referenceText = spaced(reference.main);
  const isSeparate = (words: string): boolean => !referenceText.includes(spaced(words));
  const notes = separate(withoutConventions(text), OUR_NOTE, isSeparate);
  const slides = separate(notes.main, OUR_SLIDE_NOTES, isSeparate);
  const referenceRows = new Set(rowsOf(reference.main));
  let remainingCharts = reference.chartsWithoutData;
  const charts = separate(
    slides.main,
    TABLE,
    (table) => !rowsOf(table).some((row) => referenceRows.has(row)) && remainingCharts-- > 0,
  );
  return {
    main: charts.main,
    separateParts: [...notes.separateParts, ...slides.separateParts, ...charts.separateParts],
  };
}

/**
 * Moves each match of a pattern to `separateParts` if `isSeparate` returns true for its words; otherwise only its words
 * stay in `main`. The groups of the pattern are the author, if any, and the words; without groups, the words are the
 * whole match.
 */
function separate(text: string, pattern: RegExp, isSeparate: (words: string) => boolean): SeparatedText {
  const separated: string[] = [];
  const main = text.replaceAll(pattern, (match: string, ...groups: unknown[]) => {
    const [author, words = match] = groups.slice(0, -2) as (string | undefined)[];
    if (!isSeparate(words)) return words;
    separated.push(`${author ?? ''} ${words}`.trim());
    return '';
  });
  return { main, separateParts: separated };
}

/** Returns each row of the tables of a text as one line. */
const rowsOf = (markdown: string): string[] =>
  readMarkdown(markdown).flatMap((block) =>
    block.kind === 'table' ? block.rows.map((cells) => spaced(cells.join('|'))) : [],
  );

const spaced = (text: string): string => text.normalize('NFKC').replaceAll(/\s+/g, ' ').trim();

/** A name before a value in a row of a sheet: `name: value, name: value`. */
const COLUMN_NAME = /(?<=^|, )([^,:|\n]+): /g;

/**
 * Removes the names of columns that the line above also has. In our text of a sheet, each row repeats them; a table has
 * them once. Without the repetitions, both can be compared.
 */
export function withoutRepeatedNames(text: string): string {
  let above = new Set<string>();
  return text
    .split('\n')
    .map((line) => {
      const names = new Set([...line.matchAll(COLUMN_NAME)].map(([, name = '']) => name));
      const shorter = line.replaceAll(COLUMN_NAME, (named, name: string) => (above.has(name) ? '' : named));
      above = names;
      return shorter;
    })
    .join('\n');
}
