import { countTokens } from '../../documents/chunking/countTokens.js';
import { processDocument } from '../../documents/processDocument.js';
import { parseDocument } from '../../documents/registry.js';
import type {
  ChunkOptions,
  Cut,
  DocumentLimits,
  ParsedDocument,
  ParseInput,
  ProcessedDocument,
} from '../../documents/types.js';
import { LIMITS } from './page.js';

/** Returns the parser input of an uploaded file. */
export function upload(content: string | Uint8Array, name: string, contentType: string | null = null): ParseInput {
  return {
    bytes: typeof content === 'string' ? new TextEncoder().encode(content) : Uint8Array.from(content),
    contentType,
    name,
    baseUrl: null,
    html: { tags: [], classes: [], selectors: [] },
  };
}

/** Parses an uploaded file. */
export async function readFile(
  content: string | Uint8Array,
  name: string,
  limits: Partial<DocumentLimits> = {},
): Promise<ParsedDocument> {
  return parseDocument(upload(content, name), { ...LIMITS, ...limits });
}

/** Returns `kind: message` of the Fault that the file causes, or `read: …` with the start of its text. */
export async function faultOfFile(
  content: string | Uint8Array,
  name: string,
  limits: Partial<DocumentLimits> = {},
): Promise<string> {
  try {
    const { text } = await readFile(content, name, limits);
    return `read: ${text.slice(0, 200)}`;
  } catch (error) {
    if (error instanceof Error && 'kind' in error) return `${String(error.kind)}: ${error.message}`;
    throw error;
  }
}

/** Returns the texts of the file's chunks. Throws if it has no text, or if a chunk breaks a rule of `processFile`. */
export async function chunksOfFile(
  content: string | Uint8Array,
  name: string,
  options: Partial<ChunkOptions> = {},
): Promise<string[]> {
  const { document, texts } = await processFile(content, name, options);
  if (document.text === '') throw new Error('no text');
  return texts;
}

/** Parses and chunks a file. Throws if a chunk exceeds the chunk size, or states a wrong number of tokens. */
export async function processFile(
  content: string | Uint8Array,
  name: string,
  options: Partial<ChunkOptions> = {},
): Promise<{ document: ProcessedDocument; texts: string[]; cuts: readonly Cut[] }> {
  const chunking = { chunkSize: 1500, chunkOverlap: 20, prefix: null, ...options };
  const document = await processDocument(upload(content, name), chunking, LIMITS);
  const texts = document.cuts.map(({ start, end }) => document.prefix + document.text.slice(start, end));
  texts.forEach((text, nth) => {
    const tokens = countTokens(text);
    if (tokens > chunking.chunkSize) throw new Error(`chunk ${nth} has ${tokens} tokens`);
    const stated = document.cuts[nth]?.tokens;
    if (tokens !== stated) throw new Error(`chunk ${nth} has ${tokens} tokens, but states ${stated}`);
  });
  return { document, texts, cuts: document.cuts };
}
