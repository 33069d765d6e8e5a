import { Fault } from '../../contract/failures.js';
import { cleanText } from '../cleanText.js';
import { decodeText } from '../decodeText.js';
import type { DocumentLimits, ParsedDocument, ParseInput, Parser } from '../types.js';

/** Names of front matter fields, and the metadata they are kept as. */
const FIELDS: ReadonlyMap<string, string> = new Map([
  ['title', 'title'],
  ['description', 'description'],
  ['summary', 'description'],
  ['author', 'author'],
  ['date', 'published'],
  ['lang', 'language'],
  ['language', 'language'],
]);

/** Markdown as it is written: it is the form all other formats are brought into. Front matter becomes metadata. */
export const markdownParser = {
  parse(input: ParseInput, limits: DocumentLimits): ParsedDocument {
    const { text, metadata } = splitFrontMatter(cleanText(decodeText(input, { html: false }), limits));
    const body = text
      // What is not closed is matched as well, and left: else each open end is looked for anew up to the end of the file.
      .replace(/<!--[\s\S]*?(?:-->|$)/g, (comment) => (comment.endsWith('-->') ? '' : comment))
      // An image inside the text itself is megabytes of letters that say nothing.
      .replace(/\]\(data:[^)\s]*\)?/g, (image) => (image.endsWith(')') && image.length >= 108 ? ']()' : image))
      .trim();
    if (body === '') throw new Fault('no_text', 'The file has no text besides its front matter and comments.');
    const title = /^#[ \t]+(.{1,1000})/m.exec(body)?.[1]?.replace(/[ \t]*#*$/, '');
    return {
      text: body,
      format: 'MD',
      mimeType: 'text/markdown',
      metadata:
        title === undefined || title === '' || metadata['title'] !== undefined ? metadata : { title, ...metadata },
    };
  },
} satisfies Parser;

/** The block between two lines of dashes at the very start, its simple `name: value` lines read. */
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
