import { parseDocument } from '../../documents/registry.js';
import type { DocumentLimits, ParsedDocument, ParseInput } from '../../documents/types.js';

export const LIMITS: DocumentLimits = { maxDepth: 512, maxAttributesPerElement: 1000, maxTextCharacters: 20_000_000 };

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
  return parseDocument(input(html, overrides), limits);
}

export function textOf(html: string, overrides: Partial<ParseInput> = {}): string {
  return parsePage(html, overrides).text;
}

/** The kind of the Fault that the call throws, or 'none'. */
export function faultOf(call: () => unknown): string {
  try {
    call();
    return 'none';
  } catch (error) {
    return typeof error === 'object' && error !== null && 'kind' in error ? String(error.kind) : String(error);
  }
}
