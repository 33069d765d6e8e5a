import type { FileFormat } from '../../contract/files/fileFormats.js';

/**
 * Matches the start of a page, as opposed to a fragment of HTML, with which a Markdown file may begin. The pattern
 * matches comments in only one way: with a lazy dot, thirty comments in a row would be tried in every combination.
 */
export const PAGE_START =
  /^(?:<!--(?:(?!-->)[\s\S])*-->\s*|<\?xml[^>]*>\s*)*<(?:!doctype\s+html|html|head|body|title|frameset)[\s>]/i;
const FRAGMENT_START =
  /^(?:<!--(?:(?!-->)[\s\S])*-->\s*)*<(?:h[1-6]|div|p|table|ul|ol|dl|a|font|center|script|style|meta|link|br|b|i|span|section|article|main|header|nav|pre|img|form)[\s/>]/i;

const TEXT_FORMATS = ['HTML', 'MD', 'TXT', 'CSV', 'TSV', 'JSON', 'EML'] as const satisfies readonly FileFormat[];
type TextFormat = (typeof TEXT_FORMATS)[number];

const isTextFormat = (format: FileFormat | null): format is TextFormat =>
  (TEXT_FORMATS as readonly (FileFormat | null)[]).includes(format);

/** The start of a text, and whether it is the whole text. */
export interface TextHead {
  readonly text: string;
  readonly whole: boolean;
}

/**
 * Returns the format of a text: by its beginning, then by the media type of a page or of Markdown, then by its name,
 * then by another media type that is more specific than "text". A name or type that contradicts the content is ignored.
 * If nothing remains, the content decides.
 */
export function textFormat(
  head: TextHead,
  type: string,
  byType: FileFormat | null,
  byName: FileFormat | null,
): TextFormat {
  if (PAGE_START.test(head.text)) return 'HTML';
  if (byType === 'HTML') {
    // Some servers label every file as HTML. Text without any tag is plain text: read as HTML, it would lose its lines.
    if (/<[a-z!/]/i.test(head.text) || !head.whole) return 'HTML';
    return isTextFormat(byName) && byName !== 'HTML' ? byName : 'TXT';
  }
  if (byType === 'MD') return 'MD';
  const isPlain = type === 'text/plain';
  const promised = byName === 'HTML' && isPlain ? null : byName;
  if (isTextFormat(promised) && canBe(promised, head)) return promised;
  if (isTextFormat(byType) && byType !== 'TXT' && canBe(byType, head)) return byType;
  // A name that contradicts the content is ignored. Without a name, a text that was not declared as plain text is
  // examined too.
  return (promised === null || promised === 'TXT') && isPlain ? 'TXT' : guess(head);
}

function canBe(format: TextFormat, head: TextHead): boolean {
  if (format === 'JSON') return /^(?:[[{"]|-?\d|(?:true|false|null)\b)/.test(head.text) && !looksLikeTable(head);
  if (format === 'EML') return headersIn(head.text) > 0;
  if (format === 'CSV' || format === 'TSV') return !looksLikeJson(head) && headersIn(head.text) < 3;
  return true;
}

/** Guesses the format of a text from its content alone. */
function guess(head: TextHead): TextFormat {
  if (FRAGMENT_START.test(head.text)) return 'HTML';
  if (looksLikeJson(head)) return 'JSON';
  if (headersIn(head.text) >= 3) return 'EML';
  if (looksLikeTable(head)) return linesOf(head)[0]?.includes('\t') === true ? 'TSV' : 'CSV';
  return 'TXT';
}

function looksLikeJson({ text, whole }: TextHead): boolean {
  if (!/^(?:\{\s*["}]|\[\s*(?:[[{"\]\d-]|true|false|null))/.test(text)) return false;
  if (!whole) return true;
  return isJson(text) || isJson(/^.*$/m.exec(text)?.[0] ?? '');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const HEADERS =
  /^(?:from|to|cc|date|subject|received|return-path|message-id|mime-version|content-type|delivered-to|dkim-signature)$/i;

/** Returns how many different message header fields the text begins with. */
function headersIn(text: string): number {
  const fields = new Set<string>();
  for (const line of text.split(/\r?\n/)) {
    const field = /^([A-Za-z][A-Za-z0-9-]{1,60}):/.exec(line)?.[1];
    if (field !== undefined && HEADERS.test(field)) fields.add(field.toLowerCase());
    else if (field === undefined && !/^[ \t]+\S/.test(line) && !/^From \S+/.test(line)) break;
  }
  return fields.size;
}

function linesOf({ text, whole }: TextHead): string[] {
  const lines = text.split(/\r?\n/);
  // The last line may be incomplete.
  return (whole ? lines : lines.slice(0, -1)).filter((line) => line.trim() !== '');
}

/**
 * Whether the first lines, at least 3 and at most 20, have the same number of fields: two or more, with commas three or
 * more. Quoted delimiters do not count.
 */
function looksLikeTable(head: TextHead): boolean {
  const lines = linesOf(head).slice(0, 20);
  if (lines.length < 3) return false;
  return ['\t', ';', ',', '|'].some((delimiter) => {
    const counts = lines.map((line) => line.replaceAll(/"[^"]*"/g, '').split(delimiter).length);
    // Prose has commas too, but with varying numbers per line and long fields.
    return (counts[0] ?? 0) >= (delimiter === ',' ? 3 : 2) && counts.every((count) => count === counts[0]);
  });
}
