import { identifyFile } from '../../documents/detection/identifyFile.js';
import { htmlParser } from '../../documents/parsers/html.js';
import { markdownParser } from '../../documents/parsers/markdown.js';
import { textParser } from '../../documents/parsers/text.js';
import type { DocumentLimits, ParsedDocument, ParseInput } from '../../documents/types.js';

export const LIMITS: DocumentLimits = {
  maxDepth: 512,
  maxAttributesPerElement: 1000,
  maxHtmlDepth: 50_000,
  maxHtmlAttributes: 10_000,
  maxTextCharacters: 20_000_000,
  maxFileBytes: 200_000_000,
  maxArchiveEntries: 10_000,
  maxUnpackedBytes: 500_000_000,
  maxUnpackRatio: 200,
  maxPages: 5000,
  maxCells: 10_000_000,
  maxAttachments: 100,
};

/** Limits of the processes that read files. */
export const FILES = { processes: 1, timeoutMs: 60_000, memoryMb: 1024 };

const PAGE_PARSERS = { HTML: htmlParser, MD: markdownParser, TXT: textParser } as const;

export function input(content: string | Uint8Array, overrides: Partial<ParseInput> = {}): ParseInput {
  return {
    bytes: typeof content === 'string' ? new TextEncoder().encode(content) : content,
    contentType: 'text/html; charset=utf-8',
    name: 'https://example.org/page',
    baseUrl: 'https://example.org/page',
    html: { tags: [], classes: [], selectors: [] },
    ...overrides,
  };
}

export function parsePage(
  html: string,
  overrides: Partial<ParseInput> = {},
  limits: DocumentLimits = LIMITS,
): ParsedDocument {
  const page = input(html, overrides);
  const { format } = identifyFile(page);
  if (format !== 'HTML' && format !== 'MD' && format !== 'TXT') throw new Error(`not a page: ${format}`);
  return PAGE_PARSERS[format].parse(page, limits);
}

export function textOf(html: string, overrides: Partial<ParseInput> = {}): string {
  return parsePage(html, overrides).text;
}

/** Returns the kind of the Fault that the call throws, or 'none'. */
export function faultOf(call: () => unknown): string {
  try {
    call();
    return 'none';
  } catch (error) {
    return typeof error === 'object' && error !== null && 'kind' in error ? String(error.kind) : String(error);
  }
}
