import type { FileFormat } from '../../contract/fileFormats.js';

/**
 * What only a page begins with, and what a fragment of one may begin with, as a Markdown file may. A comment is matched
 * in one way only: with a lazy dot, thirty comments in a row are tried in every combination.
 */
export const PAGE_START =
  /^(?:<!--(?:(?!-->)[\s\S])*-->\s*|<\?xml[^>]*>\s*)*<(?:!doctype\s+html|html|head|body|title|frameset)[\s>]/i;
const FRAGMENT_START =
  /^(?:<!--(?:(?!-->)[\s\S])*-->\s*)*<(?:h[1-6]|div|p|table|ul|ol|dl|a|font|center|script|style|meta|link|br|b|i|span|section|article|main|header|nav|pre|img|form)[\s/>]/i;

type TextFormat = Extract<FileFormat, 'HTML' | 'MD' | 'TXT' | 'CSV' | 'TSV' | 'JSON' | 'EML'>;

const TEXT_FORMATS: ReadonlySet<FileFormat> = new Set(['HTML', 'MD', 'TXT', 'CSV', 'TSV', 'JSON', 'EML']);

const isTextFormat = (format: FileFormat | null): format is TextFormat => format !== null && TEXT_FORMATS.has(format);

/** The head of a text, and whether that is all of it. */
export interface TextHead {
  readonly text: string;
  readonly whole: boolean;
}

/** What text is: by what it begins with, then by a type that says more than "text", then by its name. */
export function textFormat(
  head: TextHead,
  type: string,
  byType: FileFormat | null,
  byName: FileFormat | null,
): TextFormat {
  if (PAGE_START.test(head.text)) return 'HTML';
  if (byType === 'HTML') {
    // Some servers call everything a page; text without a single tag keeps its lines only as plain text.
    if (/<[a-z!/]/i.test(head.text) || !head.whole) return 'HTML';
    return isTextFormat(byName) && byName !== 'HTML' ? byName : 'TXT';
  }
  if (byType === 'MD') return 'MD';
  const isPlain = type === 'text/plain';
  const promised = byName === 'HTML' && isPlain ? null : byName;
  if (isTextFormat(promised) && canBe(promised, head)) return promised;
  if (isTextFormat(byType) && byType !== 'TXT' && canBe(byType, head)) return byType;
  // A name that is not true says nothing; without one, a text that was not called plain is looked at as well.
  return (promised === null || promised === 'TXT') && isPlain ? 'TXT' : guess(head);
}

function canBe(format: TextFormat, head: TextHead): boolean {
  if (format === 'JSON') return /^(?:[[{"]|-?\d|(?:true|false|null)\b)/.test(head.text) && !looksLikeTable(head);
  if (format === 'EML') return headersIn(head.text) > 0;
  if (format === 'CSV' || format === 'TSV') return !looksLikeJson(head) && headersIn(head.text) < 3;
  return true;
}

/** What a text is that nothing but itself speaks for. */
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

/** How many different header fields of a message the text begins with. */
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
  // The last one may be cut.
  return (whole ? lines : lines.slice(0, -1)).filter((line) => line.trim() !== '');
}

/** At least three lines with the same number, two or more, of fields. Quoted delimiters do not count. */
function looksLikeTable(head: TextHead): boolean {
  const lines = linesOf(head).slice(0, 20);
  if (lines.length < 3) return false;
  return ['\t', ';', ',', '|'].some((delimiter) => {
    const counts = lines.map((line) => line.replaceAll(/"[^"]*"/g, '').split(delimiter).length);
    // Running text has commas too, but not as many in each line, and its fields are long.
    return (counts[0] ?? 0) >= (delimiter === ',' ? 3 : 2) && counts.every((count) => count === counts[0]);
  });
}
