import { decodeText } from '../../../documents/decodeText.js';
import { decode, encode } from './encode.js';
import { LEGACY, SAMPLES, type Language } from './samples.js';

const UNICODE = ['utf-8', 'utf-16le', 'utf-16be'] as const;

/**
 * Ways in which a page declares its encoding: not at all, wrongly (in the header, in meta, or as UTF-8), or correctly.
 */
const DECLARATIONS = [
  'undeclared',
  'wrong header',
  'wrong meta',
  'wrongly UTF-8',
  'right header',
  'right meta',
] as const;
export type Declaration = (typeof DECLARATIONS)[number];

export interface Cell {
  readonly language: Language;
  readonly encoding: string;
  readonly declaration: Declaration;
}

/** All possible combinations: a meta element cannot declare UTF-16, and UTF-8 is never wrong for a page in UTF-8. */
export const CELLS: readonly Cell[] = (Object.keys(SAMPLES) as Language[]).flatMap((language) =>
  [...LEGACY[language].encodings, ...UNICODE].flatMap((encoding) =>
    DECLARATIONS.filter((declaration) => !(encoding.startsWith('utf-16') && declaration === 'right meta'))
      .filter((declaration) => !(encoding === 'utf-8' && declaration === 'wrongly UTF-8'))
      .map((declaration) => ({ language, encoding, declaration })),
  ),
);

/**
 * Decodes the page of a combination. @returns the expected text, the decoded text, and the number of replaced
 * characters
 */
export function readCell({ language, encoding, declaration }: Cell): { wanted: string; read: string; lost: number } {
  const { wrong } = LEGACY[language];
  const label = declaration.startsWith('right') ? encoding : wrong;
  const inHeader: Record<Declaration, string | null> = {
    undeclared: null,
    'wrong header': label,
    'wrong meta': null,
    'wrongly UTF-8': 'utf-8',
    'right header': label,
    'right meta': null,
  };
  const meta = declaration.endsWith('meta') ? `<meta charset="${label}">` : '';
  const text = pageOf(SAMPLES[language], meta);
  const bytes = encode(text, encoding);
  // A few quotation marks do not exist in the older encodings.
  const expected = decode(bytes, encoding);
  const lost = [...text].filter((char, at) => char !== [...expected][at]).length;
  const header = inHeader[declaration];
  const contentType = header === null ? 'text/html' : `text/html; charset=${header}`;
  return { wanted: expected, read: decodeText({ bytes, contentType }, { html: true }), lost };
}

function pageOf([title, ...paragraphs]: readonly string[], meta: string): string {
  const head = `<!doctype html>\n<html>\n<head>\n${meta}<title>${title ?? ''}</title>\n`;
  const style = '<style>body { font-family: sans-serif } .note > b { color: #345 }</style>\n';
  const body = paragraphs.map((text) => `<p class="text">${text}</p>\n`).join('');
  return `${head}${style}</head>\n<body>\n<div id="top"><h1>${title ?? ''}</h1>\n${body}</div>\n</body>\n</html>\n`;
}
