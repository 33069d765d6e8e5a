import { Fault } from '../../contract/failures.js';
import { cleanText } from '../cleanText.js';
import { decodeText } from '../decodeText.js';
import type { DocumentLimits, ParsedDocument, ParseInput, Parser } from '../types.js';

/** Front matter fields and their metadata names. */
const FIELDS: ReadonlyMap<string, string> = new Map([
  ['title', 'title'],
  ['description', 'description'],
  ['summary', 'description'],
  ['author', 'author'],
  ['date', 'published'],
  ['lang', 'language'],
  ['language', 'language'],
]);

/** A fenced code block. One without an end mark reaches to the end of the file. */
const FENCED = /^[ \t]*(`{3,}|~{3,})[^`\n]*\n[\s\S]*?(?:^[ \t]*\1[`~]*[ \t]*$|(?![\s\S]))/gm;
/**
 * A code block or a comment. It matches unclosed comments too, which stay. If the pattern required an end mark, each
 * `<!--` without one would cost a search to the end of the file.
 */
const CODE_OR_COMMENT = new RegExp(`${FENCED.source}|<!--[\\s\\S]*?(?:-->|(?![\\s\\S]))`, 'gm');

/**
 * Parses Markdown, the target format of all other parsers: only comments and embedded images are removed. Front matter
 * becomes metadata.
 */
export const markdownParser = {
  parse(input: ParseInput, limits: DocumentLimits): ParsedDocument {
    const { text, metadata } = splitFrontMatter(cleanText(decodeText(input, { html: false }), limits));
    const body = text
      .replace(CODE_OR_COMMENT, (part) => (part.startsWith('<!--') && part.endsWith('-->') ? '' : part))
      // An image embedded in the text is megabytes of characters without meaning.
      .replace(/\]\(data:[^)\s]*\)?/g, (image) => (image.endsWith(')') && image.length >= 108 ? ']()' : image))
      .trim();
    if (body === '') throw new Fault('no_text', 'The file has no text besides its front matter and comments.');
    const title = /^#[ \t]+(.{1,1000})/m.exec(body.replace(FENCED, ''))?.[1]?.replace(/[ \t]*#*$/, '');
    return {
      text: body,
      format: 'MD',
      mimeType: 'text/markdown',
      metadata:
        title === undefined || title === '' || metadata['title'] !== undefined ? metadata : { title, ...metadata },
    };
  },
} satisfies Parser;

/** Splits off the block between two lines of dashes at the start, and parses its simple `name: value` lines. */
function splitFrontMatter(text: string): { text: string; metadata: Record<string, unknown> } {
  const metadata: Record<string, unknown> = {};
  const matter = /^---\n([\s\S]*?)\n(?:---|\.\.\.)(?:\n|$)/.exec(text);
  if (matter === null || !/^[\w-]+\s*:/m.test(matter[1] ?? '')) return { text, metadata };
  for (const line of (matter[1] ?? '').split('\n')) {
    const field = /^([\w-]+)\s*:\s*(.+)$/.exec(line);
    const key = FIELDS.get(field?.[1]?.toLowerCase() ?? '');
    const value = (field?.[2] ?? '').trim().replace(/^(["'])(.*)\1$/, '$2');
    if (key !== undefined && value !== '' && !/^[[{>|]/.test(value)) metadata[key] ??= value;
  }
  return { text: text.slice(matter[0].length), metadata };
}
