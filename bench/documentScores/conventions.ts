/** A habit of a reference's author that says nothing about the file. It is removed from the reference and from each text. */
export interface Convention {
  readonly name: string;
  readonly why: string;
  readonly remove: (text: string) => string;
}

/**
 * The references are those of docling (https://github.com/docling-project/docling, tests/data). Each row is a form of its
 * output, seen in the reference, that the file does not contain.
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
    why: 'a check box is written as “[x]” or “[ ]” in Markdown; we write the sign of the file',
    remove: (text) => text.replaceAll(/(?:[-*] )?\[[ xX]\] |[☐☑☒] ?/g, ''),
  },
];

/** Returns a text without the habits of its author. */
export const withoutConventions = (text: string): string =>
  CONVENTIONS.reduce((rest, { remove }) => remove(rest), text);

/** A text without its comments, headers and footers, and these. */
export interface Separated {
  readonly main: string;
  /** The name of the author, if known, and the words, one comment, header or footer each. */
  readonly apart: readonly string[];
}

/** Comments in docling's references. The time of a comment is not scored, because it is not part of its text. */
const REFERENCE_COMMENT = /^\[author: ([^\]]*?)(?: \([A-Z]{1,4}\))?(?:, time: [^\]]*)?\]: (.*)$/gm;
/** Comments, headers and footers in our text. */
const OUR_NOTE =
  /^(?:[-*] )?(?:(?:Comment|Reply)(?: by ([^:\n]*?)(?: \([A-Z]{1,4}\))?)?(?: on (?:"[^\n]*?"|[A-Z]{1,3}\d{1,7}))?|Header|Footer): (.*)$/gm;

/** Separates the comments of a reference from its text. */
export const separateReference = (reference: string): Separated => separate(reference, REFERENCE_COMMENT, () => true);

/**
 * Separates comments, headers and footers from a text of ours. One whose words are in the main text of the reference stays,
 * without its label: this reference does not leave it out.
 */
export function separateOurs(text: string, reference: Separated): Separated {
  const wanted = spaced(reference.main);
  return separate(text, OUR_NOTE, (words) => !wanted.includes(spaced(words)));
}

function separate(text: string, pattern: RegExp, isApart: (words: string) => boolean): Separated {
  const apart: string[] = [];
  const main = text.replaceAll(pattern, (_line, author: string | undefined, words: string) => {
    if (!isApart(words)) return words;
    apart.push(`${author ?? ''} ${words}`.trim());
    return '';
  });
  return { main, apart };
}

const spaced = (text: string): string => text.normalize('NFKC').replaceAll(/\s+/g, ' ').trim();
